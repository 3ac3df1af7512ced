/**
 * What requests cost, by name (LIM-08 to LIM-15, AMB-104). Routes name a cost; how many units it is, an operator says.
 */

/**
 * `action` anything of a session that has no name of its own, `cancel` one signed cancel, `cancelAll` all orders of a
 * user or of a market, `bulk` that many items in one request, `historyPage` a page of orders or trades, `publicRead`
 * anything without a session.
 */
export type Cost = 'action' | 'cancel' | 'cancelAll' | 'historyPage' | 'publicRead' | { readonly bulk: number };
