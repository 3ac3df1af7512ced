/** The documented routes and streams of each listener, as its documents print them. */
import type { ServiceName, ServiceTables } from '../../src/http/api/api-documents.ts';
import { MDS_STREAMS } from '../../src/http/api/mds-streams-table.ts';
import { OMS_STREAMS } from '../../src/http/api/oms-streams-table.ts';
import { MDS_ROUTES } from '../../src/http/mds-reads.ts';
import { OMS_ROUTES } from '../../src/http/oms-routes.ts';

export const SERVICE_TABLES: Readonly<Record<ServiceName, ServiceTables>> = {
  orders: { routes: OMS_ROUTES, streams: OMS_STREAMS },
  'market-data': { routes: MDS_ROUTES, streams: MDS_STREAMS },
};
