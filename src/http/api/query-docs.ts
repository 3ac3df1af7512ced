/** Query keys common to several routes (wire.md 6.1). */
import { Type } from '@sinclair/typebox';
import { COUNT, type Shape, SUB_ACCOUNT, words } from '../../codec/shapes/shape-kit.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import type { QueryDoc } from './api-table.ts';

/** Spelling of a boolean in a query. */
export const BOOLEAN_WORD: Shape = words('true', 'false');

export const PAGE_QUERY: QueryDoc = { name: 'page', shape: COUNT, summary: 'from 0' };

export function limitQuery(initial: number, most: number): QueryDoc {
  return {
    name: 'limit',
    shape: Type.Integer({ minimum: 1, default: initial }),
    summary: `rows per page; by default ${initial}, at most ${most}`,
  };
}

export const LIMIT_QUERY: QueryDoc = limitQuery(100, PAGE_LIMIT_MAX);

export const SUB_ACCOUNT_QUERY: QueryDoc = {
  name: 'sub_account',
  shape: SUB_ACCOUNT,
  summary: 'only these; by default all',
  repeats: true,
};
