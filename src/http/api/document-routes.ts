/** The documents themselves, on both services (DOC-01 to DOC-04): each listener adds how it charges and serves them. */
import { mapOf, named, type Shape } from '../../codec/shapes/shape-kit.ts';
import { Type } from '../../codec/shapes/type-builder.ts';
import type { RouteDoc } from './route-doc.ts';

const DOCUMENT: Shape = named('Document', 'A JSON document', mapOf('.', Type.Unsafe({})));
/** The files of the reference page, which are documents of no service. */
export const DOCUMENT_FILES = '/api-reference/*';

const PUBLIC = { method: 'GET', area: 'Documents', auth: 'public', cost: 'publicRead' } as const;

/** A document of a listener. */
interface DocumentRoute extends RouteDoc {
  readonly auth: 'public';
  readonly cost: 'publicRead';
}

export const DOCUMENT_ROUTES: readonly DocumentRoute[] = [
  {
    ...PUBLIC,
    path: '/api-doc.json',
    summary: 'This document: OpenAPI 3.1',
    reply: DOCUMENT,
    example: { reply: '{"openapi":"3.1.0"}' },
  },
  {
    ...PUBLIC,
    path: '/async-api.json',
    summary: 'The streams: AsyncAPI 3.0',
    reply: DOCUMENT,
    example: { reply: '{"asyncapi":"3.0.0"}' },
  },
  {
    ...PUBLIC,
    path: '/api-reference',
    summary: 'A page with all routes and streams, to read and try',
    description: 'It loads nothing from other hosts. Keys entered into it are not sent anywhere.',
    media: 'text/html',
    reply: DOCUMENT,
    example: { reply: '{}' },
  },
];
