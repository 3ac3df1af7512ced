/**
 * Multisig reads (wire.md 7.20), and the route that only refuses: a configuration is set up by a deposit, never by a
 * request (MSG-40).
 */
import { decodeSignerKey, multisigConfig, signerAccounts } from '../codec/multisig.ts';
import { noShape, type RouteKit } from './oms-kit.ts';

export function addMultisigRoutes(kit: RouteKit): void {
  const { signers } = kit.services;
  kit.addSession({
    method: 'GET',
    pattern: '/multisig/config/:user_id',
    cost: 'action',
    isChange: false,
    namesUser: true,
    shape: noShape,
    serve: (call, { user }) => call.reply(multisigConfig(signers.configOf(user))),
  });
  kit.addPublic({
    method: 'POST',
    pattern: '/multisig/signers',
    shape: ({ body }) => decodeSignerKey(body),
    serve: (call, key) => call.reply(signerAccounts(signers.accountsOf(key))),
  });
  // A path without any method: every request is 405.
  kit.routes.addMethodless('/multisig/config');
}
