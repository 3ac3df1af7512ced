/** Accounts: what they own and owe, and what they may do with it (wire.md 7.11 to 7.17, 7.20). */

import { INVENTORY, MULTISIG_CONFIG, SIGNER_ACCOUNTS, SIGNER_SEARCH } from '../../wire/shapes/account-shapes.ts';
import type { RouteDoc } from './api-table.ts';
import { SUB_ACCOUNT_QUERY } from './query-docs.ts';

export const OMS_ACCOUNT_ROUTES: readonly RouteDoc[] = [
  {
    method: 'GET',
    path: '/inventory/user/{user_id}',
    area: 'Account',
    auth: 'session',
    cost: 'action',
    summary: 'What you own',
    description:
      'By sub-account and asset, in human units. What is locked for a withdrawal or a settlement is left out; what orders hold is not.',
    query: [SUB_ACCOUNT_QUERY],
    reply: INVENTORY,
    example: {
      reply:
        '{"is_mm":false,"accounts":{"0":{"kind":"spot","name":"Spot","spot":{"0":"1200.5","1":"0.75"},"margins":{}},"1":{"kind":"cross_margin","name":"Margin","spot":{"0":"500"},"margins":{"2":{"base":{"credits":"2.5","liabilities":"0"},"quote":{"credits":"0","liabilities":"7875.6"}}}}}}',
    },
  },
  {
    method: 'GET',
    path: '/multisig/config/{user_id}',
    area: 'Account',
    auth: 'session',
    cost: 'action',
    summary: 'Who may sign for you',
    description: 'Set up by a deposit; `POST /multisig/config` is always 405.',
    reply: MULTISIG_CONFIG,
    example: {
      reply: '{"master_weight":1,"signers":[],"thresholds":{"low":1,"medium":1,"high":1},"config_nonce":0}',
    },
  },
  {
    method: 'POST',
    path: '/multisig/signers',
    area: 'Account',
    auth: 'public',
    cost: 'publicRead',
    summary: 'Accounts for which a key may sign',
    description: 'The body is the bare key. A key that signs for nobody has an empty list.',
    body: SIGNER_SEARCH,
    reply: SIGNER_ACCOUNTS,
    example: { body: `{"Ed25519":[${'7,'.repeat(31)}7]}`, reply: '{"accounts":[]}' },
  },
];
