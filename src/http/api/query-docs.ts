/** Query keys that several routes have (wire.md 6.1). */
import { Type } from '@sinclair/typebox';
import { COUNT, type Shape, SUB_ACCOUNT, words } from '../../codec/shapes/shape-kit.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import type { QueryDoc } from './api-table.ts';

/** As a query spells it. */
export const BOOLEAN_WORD: Shape = words('true', 'false');

export const PAGE_QUERY: QueryDoc = { name: 'page', shape: COUNT, says: 'from 0' };

export function limitQuery(initial: number, most: number): QueryDoc {
  return {
    name: 'limit',
    shape: Type.Integer({ minimum: 1, default: initial }),
    says: `rows a page; ${initial} unless given, above ${most} it is ${most}`,
  };
}

export const LIMIT_QUERY: QueryDoc = limitQuery(100, PAGE_LIMIT_MAX);

export const SUB_ACCOUNT_QUERY: QueryDoc = {
  name: 'sub_account',
  shape: SUB_ACCOUNT,
  says: 'only these; all unless given',
  repeats: true,
};
