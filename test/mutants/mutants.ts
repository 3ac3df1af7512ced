/**
 * Deliberate bugs, each one that a hurried change could make: the site in the program, what is changed there, and the
 * suite that must fail. run.ts makes them one at a time and runs those suites.
 *
 * A site is a comment `// mutant: ID` in the source, before the statement or member that is changed. Names may change and
 * code may move as long as the comment goes with it.
 */
import { argumentOfAssert, assigns, type Change, condition, removed, returns, swap } from './changes.ts';

export interface Mutant {
  /** The promise that it breaks. */
  readonly breaks: string;
  /** The id after `// mutant: ` in the source. */
  readonly site: string;
  /** Applied to the statement or member that follows the site. */
  readonly change: Change;
  /** Test file of the build, without its `.test.js`. */
  readonly caughtBy: string;
}

const TRACE: readonly Mutant[] = [
  {
    breaks: 'a reader that is late gets whole records and the number of those it missed',
    site: 'overwritten-records',
    change: swap(/wanted - count \+ torn/, 'torn'),
    caughtBy: 'test/runtime/trace-log',
  },
  {
    breaks: 'each microsecond of a late answer has one cause',
    site: 'one-cause-each',
    change: removed,
    caughtBy: 'test/cli/tail-causes',
  },
];

const METRICS: readonly Mutant[] = [
  {
    breaks: 'the stages of an action follow each other without a gap',
    site: 'stages-without-gap',
    change: removed,
    caughtBy: 'test/node/action-metrics',
  },
  {
    breaks: 'a batch is at its markets until the last of its orders is decided',
    site: 'market-of-the-last-item',
    change: removed,
    caughtBy: 'test/node/action-metrics',
  },
  {
    breaks: 'an action is counted by its market',
    site: 'counted-by-market',
    change: removed,
    caughtBy: 'test/node/action-metrics',
  },
  {
    breaks: 'strangers who name markets that there are not make no metrics, and markets without end neither',
    site: 'markets-with-metrics-bounded',
    change: condition('known !== undefined'),
    caughtBy: 'test/gateway/action-metrics',
  },
  {
    breaks: 'the time of matching is counted by market',
    site: 'matched-by-market',
    change: removed,
    caughtBy: 'test/node/action-metrics',
  },
  {
    breaks: 'a read is counted by its result',
    site: 'reads-by-result',
    change: swap(/status < ERROR_FROM/, 'true'),
    caughtBy: 'test/node/action-metrics',
  },
  {
    breaks: 'each refusal is counted by its code',
    site: 'refusal-counted',
    change: removed,
    caughtBy: 'test/node/action-metrics',
  },
];

const STORAGE: readonly Mutant[] = [
  {
    breaks: 'a commit is flushed before its meta page points to it',
    site: 'flush-before-meta',
    change: swap(/overlappingSync: false/, 'noSync: true'),
    caughtBy: 'test/reliability/io',
  },
  {
    breaks: 'a record names the hash of the one before it',
    site: 'journal-chain',
    change: removed,
    caughtBy: 'test/storage/journal',
  },
  {
    breaks: 'a record is what its hash says',
    site: 'journal-record-hash',
    change: argumentOfAssert('true'),
    caughtBy: 'test/storage/journal',
  },
  {
    breaks: 'a finished order is written once, wherever it is in its block',
    site: 'finished-order-once',
    change: condition('$& || true'),
    caughtBy: 'test/storage/checkpoint',
  },
  {
    breaks: 'a row is what its checksum says',
    site: 'row-checksum',
    change: condition('false'),
    caughtBy: 'test/reliability/damage',
  },
  {
    breaks: 'a match that a checkpoint falls into ends after it',
    site: 'checkpoint-inside-match',
    change: removed,
    caughtBy: 'test/clearing/stored-state',
  },
  {
    breaks: 'a checkpoint is whole with its sequence',
    site: 'checkpoint-sequence',
    change: removed,
    caughtBy: 'test/storage/checkpoint',
  },
  {
    breaks: 'the sums of a table follow what is removed',
    site: 'sums-follow-removals',
    change: removed,
    caughtBy: 'test/storage/verify-map',
  },
  {
    breaks: 'what is written once is not written over',
    site: 'write-once',
    change: assigns('{}'),
    caughtBy: 'test/storage/environment',
  },
  {
    breaks: 'a table has every row that was written',
    site: 'every-row-present',
    change: removed,
    caughtBy: 'test/storage/verify-map',
  },
  {
    breaks: 'a living node keeps its directory',
    site: 'directory-claim',
    change: returns('false'),
    caughtBy: 'test/storage/environment',
  },
  {
    breaks: 'history is the newest first',
    site: 'history-order',
    change: removed,
    caughtBy: 'test/storage/history',
  },
  {
    breaks: 'a page of a list is the one that belongs there',
    site: 'page-order',
    change: condition('false'),
    caughtBy: 'test/storage/environment',
  },
  {
    breaks: 'a page that a start reads in place is the one that belongs there',
    site: 'visited-order',
    change: condition('false'),
    caughtBy: 'test/storage/environment',
  },
  {
    breaks: 'a record of an order is what its checksum says',
    site: 'record-checksum',
    change: condition('false'),
    caughtBy: 'test/storage/checkpoint',
  },
  {
    breaks: 'a signed text goes with its order and no other',
    site: 'texts-go',
    change: swap(/!removed\.has\(/, 'removed.has('),
    caughtBy: 'test/storage/order-blocks',
  },
  {
    breaks: 'a list has all that was counted',
    site: 'list-count',
    change: swap(/===/, '<='),
    caughtBy: 'test/storage/history',
  },
];

const NODE: readonly Mutant[] = [
  {
    breaks: 'production signs with no approval key that everybody has',
    site: 'production-public-approval-key',
    change: condition('false'),
    caughtBy: 'test/node/config',
  },
  {
    breaks: 'a misspelt variable is refused, never ignored',
    site: 'unknown-variable',
    change: removed,
    caughtBy: 'test/node/config',
  },
  {
    breaks: 'production registers no vault that the public approval key opens',
    site: 'production-public-administrator',
    change: condition('true'),
    caughtBy: 'test/node/production-profile',
  },
  {
    breaks: 'a journal goes on from its own snapshot alone',
    site: 'journal-after-own-snapshot',
    change: swap(/!\w+\(record, base\)/, 'false'),
    caughtBy: 'test/tools/pruning',
  },
  {
    breaks: 'what is applied was journaled before',
    site: 'journal-before-effects',
    change: assigns('payload.length % 5 === 0 ? this.sequence : $&'),
    caughtBy: 'test/simulation/histories',
  },
  {
    breaks: 'the verdict of a signature is journaled, not computed again',
    site: 'journaled-verdict',
    change: swap(/: .* === 1/, ': true'),
    caughtBy: 'test/simulation/histories',
  },
  {
    breaks: 'a start replays all of the tail',
    site: 'replay-all-batches',
    change: swap(/of (\w+)\)/, 'of [...$1].slice(0, -1))'),
    caughtBy: 'test/reliability/kills',
  },
  {
    breaks: 'ids of finished orders stay taken over a restart',
    site: 'finished-ids-restored',
    change: swap(/durability\.\w+\(nowNs\)/, '[]'),
    caughtBy: 'test/simulation/histories',
  },
  {
    breaks: 'a damaged directory is not started on',
    site: 'check-before-start',
    change: swap(/checkBeforeStart\(\w+, \w+\('check-data'\), /, 'Promise.resolve('),
    caughtBy: 'test/node/start-check',
  },
  {
    breaks: 'a start that is refused waits for a thread that loads, and ends with its own exit code',
    site: 'abandoned-loading',
    change: swap(/this\.#verifier\.isLoading/, 'false'),
    caughtBy: 'test/node/start-check',
  },
  {
    breaks: 'a copied record is what it was',
    site: 'copied-record',
    change: argumentOfAssert('true'),
    caughtBy: 'test/tools/data-tools',
  },
  {
    breaks: 'the unflushed window starts with the first event that waits',
    site: 'unflushed-window-start',
    change: condition('(moments.length = 0) === 0'),
    caughtBy: 'test/clearing/unflushed-window',
  },
];

const MONEY: readonly Mutant[] = [
  {
    breaks: 'the ledger adds up',
    site: 'claims-sum',
    change: removed,
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'a fee is rounded against the client',
    site: 'fee-rounding',
    change: swap(/mulDivCeil/, 'mulDivFloor'),
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'an order holds notional and fee',
    site: 'hold-fee',
    change: swap(/ \+ .*;/, ';'),
    caughtBy: 'test/risk/buy-holds',
  },
  {
    breaks: 'clearing refuses what the limit price forbids',
    site: 'limit-price',
    change: returns('false'),
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'an order is not filled beyond its quantity',
    site: 'filled-beyond-quantity',
    change: condition('false'),
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'every debt of an account counts',
    site: 'debt-counts',
    change: returns("terms === 'all'"),
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'a reducing trade is held to solvency',
    site: 'reduction-solvency',
    change: returns('isReducing || $&'),
    caughtBy: 'test/clearing/solvency',
  },
  {
    breaks: 'LIQ-03: only an account below maintenance is liquidated',
    site: 'liquidation-begins-below',
    change: swap(/!isToBeLiquidated\(state, account, nowNs\) \|\| /, ''),
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'AMB-57: the largest position has its order first',
    site: 'largest-position-first',
    change: swap(/comesFirst\(one, best\)/, 'false'),
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'AMB-57: the backstop takes an account over after the last round, not before',
    site: 'take-over-after-last-round',
    change: condition('isWhole && takeOver(of.state, account, nowNs, of.effects)'),
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'AMB-57: nothing is taken over while a position has no usable price',
    site: 'take-over-with-prices',
    change: assigns('true'),
    caughtBy: 'test/clearing/liquidation-properties',
  },
  {
    breaks: 'AMB-110: the backstop waits for one price of all that it holds after a start',
    site: 'backstop-waits-for-prices',
    change: condition('false'),
    caughtBy: 'test/clearing/liquidation-properties',
  },
  {
    breaks: 'an answer of the gateway is for the liquidation that asked for it',
    site: 'answer-of-this-liquidation',
    change: swap(/nothing/, 'unlessHealthy(nothing)'),
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'LIQ-11: a liquidation fill needs an account below maintenance',
    site: 'liquidation-below-maintenance',
    change: removed,
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'LIQ-12: a fill of the node does not raise the risk',
    site: 'node-fill-risk',
    change: condition('true'),
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'a bankrupt account is closed in the book',
    site: 'node-closes-insolvent',
    change: removed,
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'AMB-57: nothing leaves an account under liquidation',
    site: 'transfer-under-liquidation',
    change: removed,
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'LIQ-02: detection looks at every account that a price concerns',
    site: 'moved-entry-marked',
    change: removed,
    caughtBy: 'test/clearing/liquidation/detection',
  },
  {
    breaks: 'LIQ-02: an account has a threshold for each of its legs',
    site: 'threshold-per-leg',
    change: swap(/ \/ count/, ''),
    caughtBy: 'test/clearing/liquidation/detection',
  },
  {
    breaks: 'AMB-110: cancels that had no answer before a start are asked for again',
    site: 'cancels-after-restart',
    change: removed,
    caughtBy: 'test/clearing/restoring',
  },
  {
    breaks: 'a node-made order is compared with the outstanding one of its account',
    site: 'node-order-outstanding',
    change: swap(/isOutstanding\(state, order\)/, 'true'),
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'a user in a message is all of its bytes',
    site: 'whole-user-compared',
    change: swap(/word < \w+/, 'word < 1'),
    caughtBy: 'test/order/order-codec',
  },
  {
    breaks: 'a signature is verified at the first fill of an order of the same batch',
    site: 'signature-of-same-batch',
    change: removed,
    caughtBy: 'test/clearing/hooks-and-restarts',
  },
  {
    breaks: 'a plan that fails leaves nothing behind',
    site: 'failed-plan-dropped',
    change: removed,
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'what an order has traded fits its row',
    site: 'filled-notional-fits',
    change: condition('false'),
    caughtBy: 'test/clearing/amount-bounds',
  },
  {
    breaks: 'what open orders count follows each change of one of them',
    site: 'open-orders-weighed',
    change: condition('false'),
    caughtBy: 'test/clearing/exposures',
  },
  {
    breaks: 'a nonce is used once',
    site: 'nonce-once',
    change: swap(/nonce > last/, 'nonce >= last'),
    caughtBy: 'test/clearing/money',
  },
  {
    breaks: 'a key signs once',
    site: 'co-signer-once',
    change: condition('false'),
    caughtBy: 'test/clearing/signers/signer-config',
  },
  {
    breaks: 'the weight of the signers reaches the threshold',
    site: 'signer-weight',
    change: condition('weight > config.thresholds[tier]'),
    caughtBy: 'test/clearing/signers/signer-config',
  },
  {
    breaks: 'clearing judges the signers by the account that they act for',
    site: 'signers-of-account',
    change: returns('null'),
    caughtBy: 'test/clearing/signers/add-signer',
  },
  {
    breaks: 'a change of signers follows the one before',
    site: 'config-nonce',
    change: condition('false'),
    caughtBy: 'test/clearing/signers/add-signer',
  },
  {
    breaks: 'a configuration counts with the signature of its account alone',
    site: 'config-signature',
    change: condition('false'),
    caughtBy: 'test/chain/deposit-config',
  },
  {
    breaks: 'a deposit configures an account once',
    site: 'configured-once',
    change: condition('false'),
    caughtBy: 'test/clearing/signers/deposit-config',
  },
  {
    breaks: 'a configuration that breaks a rule is ignored',
    site: 'config-rules',
    change: condition('false'),
    caughtBy: 'test/clearing/signers/deposit-config',
  },
  {
    breaks: 'an expired signer signs nothing',
    site: 'signer-expiry',
    change: condition('expiresAtNs !== null && atNs > expiresAtNs'),
    caughtBy: 'test/clearing/signers/signer-config',
  },
  {
    breaks: 'the seller delivers what the buyer gets',
    site: 'seller-delivers',
    change: returns('true'),
    caughtBy: 'test/clearing/fills',
  },
  {
    breaks: 'what a price has fired has fired before its row says so',
    site: 'price-since-arrival',
    change: assigns('heap.inForce'),
    caughtBy: 'test/clearing/trigger-heaps',
  },
  {
    breaks: 'a trigger that came behind a price is not fired by it',
    site: 'trigger-after-price',
    change: swap(/<= [\w.]+\)/, '<= 0)'),
    caughtBy: 'test/clearing/trigger-heaps',
  },
  {
    breaks: 'what a finished parent has enabled bounds its child',
    site: 'child-enabled-quantity',
    change: returns('quantity'),
    caughtBy: 'test/clearing/triggers',
  },
  {
    breaks: 'open interest is bound at the oracle as at the mark',
    site: 'open-interest-at-oracle',
    change: swap(/= .* \|\|/, '='),
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'a balance is worth its mark where it has a minimum',
    site: 'minimum-at-mark',
    change: swap(/prices\.mark/, 'prices.oracle'),
    caughtBy: 'test/clearing/funds/sub-accounts',
  },
  {
    breaks: 'a fill is stale after five minutes',
    site: 'stale-match-age',
    change: swap(/300000000000n/, '301000000000n'),
    caughtBy: 'test/core/limits',
  },
];

const DEPOSITS: readonly Mutant[] = [
  {
    breaks: 'what exceeds a cap is not pooled',
    site: 'cap-of-deposits',
    change: returns('true'),
    caughtBy: 'test/clearing/funds/deposit-caps',
  },
  {
    breaks: 'a credit counts for an hour',
    site: 'hour-of-credits',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/deposit-caps',
  },
  {
    breaks: 'a withdrawal takes isolated lots first',
    site: 'lots-first',
    change: assigns('0n'),
    caughtBy: 'test/clearing/funds/deposit-caps',
  },
  {
    breaks: 'what backs lots fills no withdrawal of the pool',
    site: 'backing-of-lots',
    change: condition('true'),
    caughtBy: 'test/clearing/funds/deposit-caps',
  },
  {
    breaks: 'an unclaimed deposit is credited once',
    site: 'unclaimed-once',
    change: removed,
    caughtBy: 'test/clearing/funds/unclaimed',
  },
];

const MATCHING: readonly Mutant[] = [
  {
    breaks: 'an amend applies only to the terms for which it was made',
    site: 'amend-revision',
    change: condition('false'),
    caughtBy: 'test/matching/changes',
  },
  {
    breaks: 'an amend only reduces',
    site: 'amend-reduces',
    change: returns('0'),
    caughtBy: 'test/matching/changes',
  },
  {
    breaks: 'complete terms without a trigger do not take one away',
    site: 'complete-trigger',
    change: condition('false'),
    caughtBy: 'test/matching/triggers',
  },
  {
    breaks: 'own orders never trade with each other',
    site: 'self-trade',
    change: condition('false'),
    caughtBy: 'test/matching/self-trades',
  },
  {
    breaks: 'a post-only order never takes',
    site: 'post-only',
    change: condition('false'),
    caughtBy: 'test/matching/orders',
  },
  {
    breaks: 'orders of one price go in the order of their arrival',
    site: 'time-priority',
    change: returns('this.#indexes[this.#levels[(level << LEVEL_BITS) + TAIL] - 1]'),
    caughtBy: 'test/matching/orders',
  },
  {
    breaks: 'a fill takes no more than its maker has',
    site: 'maker-quantity',
    change: swap(/Math\.min\((\w+), \w+\)/, '$1'),
    caughtBy: 'test/matching/orders',
  },
  {
    breaks: 'an id that stays is found when its neighbours leave',
    site: 'id-probe-chain',
    change: condition('false'),
    caughtBy: 'test/core/id-table',
  },
  {
    breaks: 'memory is touched ahead of the records, not within them',
    site: 'touched-record',
    change: assigns('this.#touched'),
    caughtBy: 'test/matching/id-records',
  },
  {
    breaks: 'without the key ids cannot be made to collide',
    site: 'keyed-id-hash',
    change: removed,
    caughtBy: 'test/matching/key-words',
  },
  {
    breaks: 'without the key prices cannot be made to collide',
    site: 'keyed-price-hash',
    change: assigns('at'),
    caughtBy: 'test/matching/price-hash',
  },
];

const SESSIONS: readonly Mutant[] = [
  {
    breaks: 'public requests leave half of the shared budget',
    site: 'shared-budget-levels',
    change: swap(/most\[part\] &&/, "most[part === 'public' ? 'user' : part] &&"),
    caughtBy: 'test/gateway/sessions/shared-budget',
  },
  {
    breaks: 'a session of a user with funds is not evicted for a user without',
    site: 'funded-session-kept',
    change: condition('first.user.length > 0'),
    caughtBy: 'test/gateway/sessions/tokens',
  },
  {
    breaks: 'the nonce of a user with funds is not evicted for a user without',
    site: 'funded-nonce-kept',
    change: swap(/(this\.#\w+\.first) \?\? (this\.#\w+\.first)/, '$2 ?? $1'),
    caughtBy: 'test/gateway/sessions/tokens',
  },
  {
    breaks: 'a request takes its price from both budgets or from neither',
    site: 'both-budgets',
    change: condition('$& && this.#shared.take(price, now) !== undefined'),
    caughtBy: 'test/gateway/sessions/rate-limits',
  },
  {
    breaks: 'a budget does not hold more than its capacity',
    site: 'budget-capacity',
    change: condition('false'),
    caughtBy: 'test/gateway/sessions/rate-limits',
  },
  {
    breaks: 'the price of a bulk is rounded up',
    site: 'bulk-price',
    change: assigns('(items / UNIT) * UNIT'),
    caughtBy: 'test/gateway/sessions/rate-limits',
  },
  {
    breaks: 'a session is over at its expiry',
    site: 'session-expiry',
    change: swap(/now < /, 'now <= '),
    caughtBy: 'test/gateway/sessions/sessions',
  },
  {
    breaks: 'a login consumes its nonce',
    site: 'login-consumes-nonce',
    change: removed,
    caughtBy: 'test/gateway/sessions/sessions',
  },
  {
    breaks: 'a nonce is valid for its user alone',
    site: 'nonce-of-user',
    change: condition('false'),
    caughtBy: 'test/gateway/sessions/sessions',
  },
];

const MARGIN: readonly Mutant[] = [
  {
    breaks: 'an account is at risk below a tenth of its requirement',
    site: 'at-risk-bound',
    change: swap(/AT_RISK_DIVISOR \* maintenance < /, 'AT_RISK_DIVISOR * maintenance <= '),
    caughtBy: 'test/risk/at-risk',
  },
  {
    breaks: 'what the backstop holds is not published as at risk',
    site: 'at-risk-backstop',
    change: removed,
    caughtBy: 'test/clearing/at-risk-accounts',
  },
  {
    breaks: 'a pass over the accounts at risk takes a bounded part of the thread',
    site: 'at-risk-share',
    change: removed,
    caughtBy: 'test/clearing/at-risk-accounts',
  },
  {
    breaks: 'an account that the backstop took over is not counted as healthy again',
    site: 'taken-over-event',
    change: condition('false'),
    caughtBy: 'test/clearing/liquidation-events',
  },
  {
    breaks: 'the liquidation price of a short is floored',
    site: 'liquidation-price-floor',
    change: swap(
      /mulDivFloor\(.*\);/,
      'mulDivFloor(-rest * WEIGHT_ONE, ONE_18, magnitude(slope)) * (slope < 0n ? -1n : 1n);',
    ),
    caughtBy: 'test/risk/at-risk',
  },
  {
    breaks: 'a liquidation price is an average over the quantity that has one',
    site: 'at-risk-average',
    change: swap(/weighed \/ priced/, 'weighed / quantity'),
    caughtBy: 'test/risk/at-risk',
  },
  {
    breaks: 'a shield needs a broken price',
    site: 'shield-needs-break',
    change: swap(/[\w.]+\.isBroken && /, ''),
    caughtBy: 'test/risk/equals-reference',
  },
  {
    breaks: 'quote legs count for equity',
    site: 'quote-legs',
    change: removed,
    caughtBy: 'test/risk/equals-reference',
  },
  {
    breaks: 'a trade that crosses the position is no reduction',
    site: 'crossing-trade',
    change: swap(/<= magnitude/, '<= 2n * magnitude'),
    caughtBy: 'test/risk/equals-reference',
  },
  {
    breaks: 'the fee of a margin trade leaves the quote leg',
    site: 'margin-trade-fee',
    change: swap(/ - fee/, ''),
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'a margin requirement is rounded up',
    site: 'requirement-rounding',
    change: swap(/\((\w+), /, '($1 - 1n, '),
    caughtBy: 'test/risk/equals-reference',
  },
  {
    breaks: 'a position offsets the orders that it covers',
    site: 'offset-once',
    change: swap(/lots - netted/, 'lots'),
    caughtBy: 'test/risk/equals-reference',
  },
  {
    breaks: 'the margin factor falls with what is open',
    site: 'margin-factor-step',
    change: swap(/> used/, '>= used'),
    caughtBy: 'test/risk/equals-reference',
  },
  {
    breaks: 'a mark that is old is not used',
    site: 'stale-mark',
    change: assigns('mark?.price ?? null'),
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'a breaker recovers after so many good prices',
    site: 'breaker-recovery',
    change: condition('goodUpdates >= 1'),
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'only what is flat is folded',
    site: 'flat-positions-only',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/sub-accounts',
  },
  {
    breaks: 'open interest follows every leg',
    site: 'open-interest-legs',
    change: condition('true'),
    caughtBy: 'test/clearing/margin-fills',
  },
  {
    breaks: 'an oracle price is newer than the last',
    site: 'newer-oracle-price',
    change: swap(/<=/, '<'),
    caughtBy: 'test/clearing/registry',
  },
];

const ORDERS: readonly Mutant[] = [
  {
    breaks: 'a cancel stays behind the create of its own order while that waits on the same connection',
    site: 'cancel-behind-its-create',
    change: assigns('false'),
    caughtBy: 'test/http/order-shedding',
  },
  {
    breaks: 'a market that answers nothing takes no more orders',
    site: 'market-probe',
    change: condition('true'),
    caughtBy: 'test/gateway/admission',
  },
  {
    breaks: 'what an action sets aside is not available to orders',
    site: 'set-aside-available',
    change: swap(/ - [\w.]+\.setAside/, ''),
    caughtBy: 'test/gateway/orders/set-asides.property',
  },
  {
    breaks: 'what is set aside leaves the margin of its account',
    site: 'set-aside-margin',
    change: swap(/ - leaving/, ''),
    caughtBy: 'test/gateway/orders/set-asides',
  },
  {
    breaks: 'the youngest orders go first where holds are not owned',
    site: 'newest-uncovered-first',
    change: swap(/-1 : 1/, '1 : -1'),
    caughtBy: 'test/gateway/orders/uncovered-holds',
  },
  {
    breaks: 'a quiet market passes the time of the tick before',
    site: 'quiet-market-time',
    change: assigns('nowNs'),
    caughtBy: 'test/clearing/passed-time',
  },
  {
    breaks: 'what fills will cost cannot be spent again',
    site: 'pending-available',
    change: swap(/ - [\w.]+\.pending/, ''),
    caughtBy: 'test/gateway/orders/order-manager',
  },
  {
    breaks: 'an order is removed when nothing of it is pending',
    site: 'removal-after-pending',
    change: removed,
    caughtBy: 'test/gateway/orders/order-manager',
  },
  {
    breaks: 'a terminal event is published once',
    site: 'terminal-event-once',
    change: swap(/ \|\| [\w.]+\)/, ')'),
    caughtBy: 'test/simulation/histories',
  },
  {
    breaks: 'an order needs more than the least capacity',
    site: 'least-capacity',
    change: swap(/<= /, '< '),
    caughtBy: 'test/gateway/orders/margin-orders',
  },
  {
    breaks: 'a reduce-only order that takes is no larger than its position',
    site: 'reduce-only-taker-size',
    change: swap(/, lots\)/, ', lots - 1)'),
    caughtBy: 'test/gateway/orders/reduce-only',
  },
  {
    breaks: 'an account in liquidation takes no new risk',
    site: 'liquidation-refuses-risk',
    change: condition('false'),
    caughtBy: 'test/gateway/orders/liquidation-orders',
  },
  {
    breaks: 'an account is cleared when everything of it is decided',
    site: 'cleared-after-decisions',
    change: returns('true'),
    caughtBy: 'test/gateway/orders/account-cancels',
  },
  {
    breaks: 'a halted market refuses an order of the node, which may come again',
    site: 'halted-refuses-node-orders',
    change: condition('market === undefined'),
    caughtBy: 'test/gateway/liquidations',
  },
  {
    breaks: 'an auto-deleveraging trade has no maker',
    site: 'deleveraged-maker',
    change: swap(/isMaker && !row\.isAutoDeleverage/, 'isMaker'),
    caughtBy: 'test/gateway/liquidations',
  },
  {
    breaks: 'CancelOnly does not bind an order of the node',
    site: 'liquidation-in-cancel-only',
    change: returns('false'),
    caughtBy: 'test/matching/node-orders',
  },
  {
    breaks: 'an auto-deleveraging trade is not public',
    site: 'deleveraging-is-not-public',
    change: condition('true'),
    caughtBy: 'test/market-data/market-data-feed',
  },
  {
    breaks: 'a buy holds what rounding the fees of its fills may cost',
    site: 'fill-rounding-hold',
    change: returns('lots === null ? $& : 0n'),
    caughtBy: 'test/gateway/orders/fee-rounding.property',
  },
  {
    breaks: 'a buy beyond a protocol cap is refused at entry',
    site: 'protocol-cap-entry',
    change: swap(/credits: credits \+ added/, 'credits'),
    caughtBy: 'test/gateway/orders/caps',
  },
  {
    breaks: 'a spot buy beyond the cap of collateral is refused at entry',
    site: 'collateral-cap-entry',
    change: swap(/ \+ added/, ''),
    caughtBy: 'test/gateway/orders/caps',
  },
  {
    breaks: 'a market order in quote counts against a cap what it buys at the lowest price',
    site: 'quote-order-cap',
    change: returns('lots'),
    caughtBy: 'test/gateway/orders/caps',
  },
  {
    breaks: 'fills on their way are in the sum of collateral',
    site: 'pending-collateral',
    change: assigns('balance.owned'),
    caughtBy: 'test/gateway/orders/collateral.property',
  },
  {
    breaks: 'an uncapped market order holds what it can spend',
    site: 'uncapped-market-hold',
    change: swap(/smaller\((\w+), \w+\)/, '$1'),
    caughtBy: 'test/gateway/orders/market-orders',
  },
  {
    breaks: 'what reduce-only orders exceed their position by adds exposure',
    site: 'reduce-only-excess',
    change: swap(/\? (\S+) : (\S+);/, '? $2 : $1;'),
    caughtBy: 'test/gateway/orders/reduce-only',
  },
  {
    breaks: 'a released order has its hold',
    site: 'release-hold',
    change: swap(/> available/, '> available + 1n'),
    caughtBy: 'test/gateway/orders/triggers',
  },
  {
    breaks: 'orders that are farthest from the price are reduced first',
    site: 'farthest-first',
    change: swap(/return gap/, 'return -gap'),
    caughtBy: 'test/gateway/orders/auto-reduce',
  },
  {
    breaks: 'of orders equally far the newest is reduced first',
    site: 'newest-of-equal-distance',
    change: swap(/-1 : 1/, '1 : -1'),
    caughtBy: 'test/gateway/orders/auto-reduce',
  },
  {
    breaks: 'a simulated spot trade pays its fee',
    site: 'simulated-fee',
    change: swap(/, fee\)/, ', 0n)'),
    caughtBy: 'test/http/margin-routes',
  },
];

const MARKET_DATA: readonly Mutant[] = [
  {
    breaks: 'an address pays for the assets that a frame of the multiplexed socket names',
    site: 'free-frames',
    change: condition('false'),
    caughtBy: 'test/http/market-subscriptions',
  },
  {
    breaks: 'a socket with wrong frames is closed at the lowest level of its address',
    site: 'flooding-readers',
    change: condition('false'),
    caughtBy: 'test/http/market-subscriptions',
  },
  {
    breaks: 'an answer to a frame is paid by its length',
    site: 'answers-charged',
    change: removed,
    caughtBy: 'test/http/market-subscriptions',
  },
  {
    breaks: 'a gap in the depth is noticed',
    site: 'depth-gap',
    change: swap(/(\w+) !== (\S+ \+ 1)/, '$1 < $2'),
    caughtBy: 'test/market-data/depth-replica',
  },
  {
    breaks: 'numbers of diffs have no gaps',
    site: 'diff-numbers',
    change: swap(/\+= 1/, '+= 2'),
    caughtBy: 'test/market-data/depth-replica',
  },
  {
    breaks: 'a new image of the book takes away what is not in it',
    site: 'book-image-replaces',
    change: removed,
    caughtBy: 'test/market-data/depth-replica',
  },
  {
    breaks: 'the day of a ticker rolls',
    site: 'ticker-day',
    change: swap(/=== null \|\| .*;/, '=== null;'),
    caughtBy: 'test/market-data/market-data',
  },
  {
    breaks: 'a mark is the last trade for a minute only',
    site: 'shown-mark',
    change: swap(/isTrade \?/, 'last !== null ?'),
    caughtBy: 'test/market-data/asset-figures',
  },
  {
    breaks: 'the time of open interest is that of its last change',
    site: 'open-interest-time',
    change: removed,
    caughtBy: 'test/market-data/asset-figures',
  },
  {
    breaks: 'a bare number of an interval is minutes',
    site: 'interval-minutes',
    change: swap(/WIDTH_OF.get\(/, 'KLINE_WIDTHS.includes(Number(text)) ? Number(text) : WIDTH_OF.get('),
    caughtBy: 'test/market-data/wide-klines',
  },
  {
    breaks: 'a later confirmation amends the row of every width',
    site: 'amended-wide-row',
    change: removed,
    caughtBy: 'test/market-data/wide-klines',
  },
  {
    breaks: 'a checksum covers bids, then asks',
    site: 'checksum-sides',
    change: swap(/bids\)\}\|/, 'asks)}|'),
    caughtBy: 'test/http/market-subscriptions',
  },
  {
    breaks: 'every n-th update has a checksum',
    site: 'checksum-every',
    change: swap(/% checksumEvery === 0/, '% checksumEvery === 1'),
    caughtBy: 'test/http/market-subscriptions',
  },
  {
    breaks: 'the sequence of a subscription counts what was sent of it',
    site: 'sequence-when-sent',
    change: swap(/\+= 1/, '+= queued.length'),
    caughtBy: 'test/http/market-subscriptions',
  },
  {
    breaks: 'a slow reader gets the newest of values that replace each other',
    site: 'newest-only',
    change: swap(/hasRoom \? null : frame/, 'hasRoom ? null : (subscription.held ?? frame)'),
    caughtBy: 'test/http/market-subscriptions',
  },
  {
    breaks: 'a trade is public once',
    site: 'trade-once',
    change: swap(/<= /, '< '),
    caughtBy: 'test/market-data/market-data-feed',
  },
];

const WIRE: readonly Mutant[] = [
  {
    breaks: 'a request without a signature does not overtake what its connection sent before',
    site: 'unsigned-in-turn',
    change: condition('job.isUnsigned === true'),
    caughtBy: 'test/gateway/signature-verifier',
  },
  {
    breaks: 'complete terms with the trigger that just fired are applied',
    site: 'trigger-of-the-check',
    change: removed,
    caughtBy: 'test/gateway/orders/triggers',
  },
  {
    breaks: 'complete terms leave no figure open',
    site: 'complete-terms',
    change: condition('false'),
    caughtBy: 'test/contract/replace-terms',
  },
  {
    breaks: 'a short request has an id, by which its answer is found',
    site: 'short-request-id',
    change: condition('false'),
    caughtBy: 'test/contract/control-short',
  },
  {
    breaks: 'a short request that is no JSON is answered with its id where that can be read',
    site: 'short-unparsed',
    change: condition('tree === null'),
    caughtBy: 'test/contract/control-short',
  },
  {
    breaks: 'a short request that no rule of the order refused gets an error, no Rejected',
    site: 'short-request-errors',
    change: returns('false'),
    caughtBy: 'test/contract/control-short',
  },
  {
    breaks: 'a string of the wire has no control characters',
    site: 'control-characters',
    change: swap(/0x20/, '0x09'),
    caughtBy: 'test/codec/json-reader',
  },
  {
    breaks: 'every co-signature is verified, not one of them',
    site: 'every-co-signature',
    change: swap(/\.every\(/, '.some('),
    caughtBy: 'test/crypto/verify-pool',
  },
  {
    breaks: 'a signature that is not attested is verified by clearing',
    site: 'unattested-is-verified',
    change: condition('false'),
    caughtBy: 'test/clearing/order-verdict',
  },
  {
    breaks: 'an attestation is of one digest, not of all that begin alike',
    site: 'attested-bytes',
    change: swap(/index < DIGEST_WORDS/, 'index < 0'),
    caughtBy: 'test/crypto/attestations',
  },
  {
    breaks: 'what the verifier finds valid is attested to clearing by the time of the verdict',
    site: 'attested-before-verdict',
    change: removed,
    caughtBy: 'test/crypto/attestations',
  },
  {
    breaks: 'what was signed is the canonical text of the order',
    site: 'canonical-signed-text',
    change: swap(/ === 0/, ' !== 2'),
    caughtBy: 'test/clearing/order-verdict',
  },
  {
    breaks: 'clearing judges who signed an order again',
    site: 'order-signers-in-clearing',
    change: swap(/ === null/, ' !== undefined'),
    caughtBy: 'test/clearing/order-verdict',
  },
  {
    breaks: 'the signatures of co-signers fit a tally, as a digest',
    site: 'long-signatures-tallied',
    change: condition('signatures.length > 0'),
    caughtBy: 'test/clearing/hooks-and-restarts',
  },
  {
    breaks: 'an order that was admitted before a configuration came into force is judged by the default',
    site: 'order-before-configuration',
    change: swap(/ < /, ' < 0n * '),
    caughtBy: 'test/clearing/order-verdict',
  },
  {
    breaks: 'a create with other co-signatures is no retry of the first',
    site: 'retry-of-all-signatures',
    change: swap(/additionalSigners\.length === 0/, 'additionalSigners.length >= 0'),
    caughtBy: 'test/gateway/order-entry-signers',
  },
  {
    breaks: 'each signature beyond the first is paid',
    site: 'signatures-are-paid',
    change: swap(/furtherSignatures\(request\)/, '0 * furtherSignatures(request)'),
    caughtBy: 'test/gateway/order-entry-signers',
  },
  {
    breaks: 'a cancel without a signature needs a session that co-signers opened',
    site: 'cancel-of-co-signers',
    change: swap(/byCoSigners && /, ''),
    caughtBy: 'test/gateway/order-entry-signers',
  },
  {
    breaks: 'half a surrogate pair is no text',
    site: 'surrogate-pairs',
    change: swap(/ \|\| \w+\(unit\)/, ''),
    caughtBy: 'test/codec/json-reader',
  },
  {
    breaks: 'a vtable lies inside its message',
    site: 'flat-vtable-bounds',
    change: swap(/ \|\| vtable \+ size > this\.#end/, ''),
    caughtBy: 'test/codec/flat-frames',
  },
  {
    breaks: 'a message costs no more than its length pays for',
    site: 'flat-reached-bytes',
    change: swap(/this\.#left >= 0/, 'true'),
    caughtBy: 'test/codec/flat-frames',
  },
  {
    breaks: 'a field lies inside its table',
    site: 'flat-field-bounds',
    change: swap(/inTable \+ bytes > tableBytes \|\| /, ''),
    caughtBy: 'test/codec/flat-frames',
  },
  {
    breaks: 'a signer is a user by all bytes of the key',
    site: 'recent-user-words',
    change: condition('false'),
    caughtBy: 'test/codec/binary-frame',
  },
  {
    breaks: 'nothing follows a JSON value',
    site: 'end-of-json',
    change: swap(/!== NOTHING/, '=== NOTHING - 1'),
    caughtBy: 'test/codec/json-reader',
  },
  {
    breaks: 'good-till-date orders keep their date',
    site: 'good-till-date',
    change: swap(/readU64\(\)/, 'readU64() + 1n'),
    caughtBy: 'test/codec/signing-vectors',
  },
  {
    breaks: 'fill-or-kill is not immediate-or-cancel',
    site: 'fill-or-kill',
    change: swap(/\? TIF\.fok/, '? TIF.ioc'),
    caughtBy: 'test/codec/signed-requests',
  },
  {
    breaks: 'decimals have no zeros at their end',
    site: 'decimal-zeros',
    change: condition('end > digits.length'),
    caughtBy: 'test/codec/replies',
  },
];

const RING_AND_BOOK: readonly Mutant[] = [
  {
    breaks: 'a thread without a CPU has the time to end before the process is killed',
    site: 'starved-end',
    change: swap(/ \* countedShare\(starvation, nowMs\)/, ''),
    caughtBy: 'test/runtime/fail-stop',
  },
  {
    breaks: 'an actor that was polled ticks soon, however long its thread was to park',
    site: 'tick-after-poll',
    change: swap(/this\.#tickMs/, 'IDLE_TICK_MS_MAX'),
    caughtBy: 'test/runtime/actor-ticks',
  },
  {
    breaks: 'a ring reads what was published, and no more',
    site: 'ring-space',
    change: swap(/> (this\.#?spare)/, '> $1 + 8'),
    caughtBy: 'test/runtime/spsc-ring',
  },
  {
    breaks: 'the side at fault in a rollback does not come back',
    site: 'faulty-side-ends',
    change: swap(/isAtFault\(\w+\) \|\| /, ''),
    caughtBy: 'test/matching/rollbacks',
  },
  {
    breaks: 'an order that comes back stands where it stood',
    site: 'rollback-priority',
    change: swap(/restByPriority/, 'rest'),
    caughtBy: 'test/matching/rollbacks',
  },
  {
    breaks: 'of two that cross after a rollback the younger takes',
    site: 'younger-takes',
    change: swap(/ < /, ' > '),
    caughtBy: 'test/matching/uncrossing',
  },
  {
    breaks: 'crossing orders of the user at fault go first',
    site: 'faulty-crossing-first',
    change: swap(/this\.#endOneAtFault\(\) \|\| /, ''),
    caughtBy: 'test/matching/uncrossing',
  },
  {
    breaks: 'a user in the cool-down of its faults has no new order accepted',
    site: 'fault-cool-down',
    change: returns('0n'),
    caughtBy: 'test/gateway/sessions/fault-budget',
  },
  {
    breaks: 'the fills of one fill-or-kill are one fault',
    site: 'fill-or-kill-one-fault',
    change: assigns('false'),
    caughtBy: 'test/gateway/orders/market-orders',
  },
  {
    breaks: 'a release that is refused is published as Triggered first',
    site: 'failed-release-triggered',
    change: swap(/&& .*\)$/m, '&& false)'),
    caughtBy: 'test/gateway/orders/triggers',
  },
  {
    breaks: 'a book is uncrossed some steps a turn',
    site: 'uncrossing-steps',
    change: swap(/!this\.#?isCrossed && /, ''),
    caughtBy: 'test/node/uncrossing',
  },
  {
    breaks: 'a child waits for the fills of its parent',
    site: 'child-waits-for-fills',
    change: swap(/: .* \? (\w+) : .*,/, ': $1,'),
    caughtBy: 'test/matching/children',
  },
  {
    breaks: 'a child wants no more than a parent that is filled can activate',
    site: 'child-wants-activatable',
    change: swap(/ && .*;/, ';'),
    caughtBy: 'test/matching/children',
  },
  {
    breaks: 'a fill-or-kill order passes over its own orders',
    site: 'fill-or-kill-own-orders',
    change: condition('maker !== index'),
    caughtBy: 'test/matching/self-trades',
  },
  {
    breaks: 'an order is over at its expiry',
    site: 'expiry-time',
    change: swap(/!isBefore\((\w+), (\w+), (.*)\);/, 'isBefore($3, $1, $2);'),
    caughtBy: 'test/matching/orders',
  },
];

const LIQUIDATION: readonly Mutant[] = [
  {
    breaks: 'a liquidation takes the price that reaches deeper',
    site: 'liquidation-reference',
    change: swap(/larger\((\w+), (\w+)\) : smaller/, 'smaller($1, $2) : larger'),
    caughtBy: 'test/risk/liquidation',
  },
  {
    breaks: 'a liquidation price is rounded outwards',
    site: 'liquidation-price-tick',
    change: swap(/reference,/, 'reference + tick,'),
    caughtBy: 'test/risk/liquidation',
  },
  {
    breaks: 'a clip is bounded in USD',
    site: 'clip-bound',
    change: swap(/smaller\((\w+), \w+\)/, '$1'),
    caughtBy: 'test/risk/liquidation',
  },
  {
    breaks: 'a credit lifts the surplus to 2 % above the requirement',
    site: 'buffer-credit',
    change: swap(/mulDivCeil/, 'mulDivFloor'),
    caughtBy: 'test/risk/liquidation',
  },
  {
    breaks: 'the backstop deleverages at the better price for it',
    site: 'adl-price-side',
    change: swap(/smaller/, 'larger'),
    caughtBy: 'test/risk/liquidation',
  },
  {
    breaks: 'counterparties rank by leverage and profit',
    site: 'adl-score',
    change: swap(/a\.notional \* /, ''),
    caughtBy: 'test/risk/liquidation',
  },
  {
    breaks: 'auto-deleveraging ends with the lot that restores the buffer',
    site: 'adl-partial',
    change: swap(/-1, /, 'Math.floor(lotsMax / 2), '),
    caughtBy: 'test/risk/liquidation',
  },
  {
    breaks: 'a take-over takes the cost of a position along',
    site: 'take-over-cost',
    change: swap(/own\.legs, legs\)/, 'own.legs, { ...legs, entry: 0n })'),
    caughtBy: 'test/clearing/liquidation/backstop',
  },
  {
    breaks: 'what the backstop credits is booked against its capital',
    site: 'backstop-credit-booked',
    change: removed,
    caughtBy: 'test/clearing/liquidation/backstop',
  },
  {
    breaks: 'netting closes both sides',
    site: 'netting-both-sides',
    change: removed,
    caughtBy: 'test/clearing/liquidation/backstop',
  },
  {
    breaks: 'clips are a second apart',
    site: 'clip-interval',
    change: condition('false'),
    caughtBy: 'test/clearing/liquidation/backstop',
  },
  {
    breaks: 'the backstop deleverages below its initial margin only',
    site: 'backstop-escalates',
    change: condition("row.state === 'working' && false"),
    caughtBy: 'test/clearing/liquidation/deleveraging',
  },
  {
    breaks: 'collateral is posted below the initial margin only',
    site: 'posting-last-resort',
    change: condition('false'),
    caughtBy: 'test/clearing/liquidation/deleveraging',
  },
  {
    breaks: 'what a closed row lacks is posted',
    site: 'posting-at-close',
    change: assigns('0n'),
    caughtBy: 'test/clearing/liquidation/backstop',
  },
  {
    breaks: 'auto-deleveraging keeps to the cap of its market',
    site: 'adl-cap',
    change: swap(/cap - used/, 'cap'),
    caughtBy: 'test/clearing/liquidation/deleveraging',
  },
  {
    breaks: 'only the other side is deleveraged',
    site: 'adl-opposite-side',
    change: condition('legs.base === 0n || isBackstop(state, user)'),
    caughtBy: 'test/clearing/liquidation/deleveraging',
  },
  {
    breaks: 'only profitable positions are deleveraged',
    site: 'adl-profitable',
    change: condition('false'),
    caughtBy: 'test/clearing/liquidation/deleveraging',
  },
  {
    breaks: 'a trade of auto-deleveraging has two sides',
    site: 'adl-both-sides',
    change: removed,
    caughtBy: 'test/clearing/liquidation/deleveraging',
  },
  {
    breaks: 'open positions are found by their asset',
    site: 'open-positions',
    change: removed,
    caughtBy: 'test/clearing/liquidation/deleveraging',
  },
];

const CHAINS: readonly Mutant[] = [
  {
    breaks: 'two approvals for one counter of a vault never live at one time',
    site: 'approval-of-one-counter',
    change: condition('false'),
    caughtBy: 'test/chain/approval-signer',
  },
  {
    breaks: 'half of the providers are no majority',
    site: 'evm-majority',
    change: swap(/>/, '>='),
    caughtBy: 'test/chain/evm-watch',
  },
  {
    breaks: 'a block is final with the last of its confirmations',
    site: 'evm-confirmations',
    change: swap(/ \+ 1/, ' + 2'),
    caughtBy: 'test/chain/evm-watch',
  },
  {
    breaks: 'the cursor passes a block after clearing has replied',
    site: 'evm-cursor-waits',
    change: condition('false'),
    caughtBy: 'test/chain/evm-watch',
  },
  {
    breaks: 'a chain on which a credited deposit vanished credits nothing more',
    site: 'evm-vanished',
    change: condition('false'),
    caughtBy: 'test/chain/evm-watch',
  },
  {
    breaks: 'a simulated chain on which a credited deposit vanished credits nothing more',
    site: 'simulated-vanished',
    change: condition('false'),
    caughtBy: 'test/chain/chain-faults',
  },
  {
    breaks: 'a simulated chain is not resumed while no majority of its providers decides about what was booked',
    site: 'resumed-undecided',
    change: condition('false'),
    caughtBy: 'test/chain/chain-faults',
  },
  {
    breaks: 'a simulated chain stops on which a booked settlement is gone whose approval has ended',
    site: 'simulated-lost-settlement',
    change: condition('true'),
    caughtBy: 'test/contract/settlements',
  },
  {
    breaks: 'nothing is approved on a chain while a booked settlement is gone',
    site: 'approved-while-missing',
    change: swap(/ && this.#missing.length === 0/, ''),
    caughtBy: 'test/contract/settlements',
  },
  {
    breaks: 'nothing is locked for a settlement while approvals are withheld',
    site: 'settled-while-withheld',
    change: condition('false'),
    caughtBy: 'test/contract/settlements',
  },
  {
    breaks: 'with a resumption the counters of the ledger are those of the vault',
    site: 'counters-of-the-vault',
    change: removed,
    caughtBy: 'test/contract/chain-powers',
  },
  {
    breaks: 'a payout that vanished is taken back once',
    site: 'vanished-once',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/vanished-events',
  },
  {
    breaks: 'a settlement that vanished is reversed once',
    site: 'reversed-once',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/vanished-events',
  },
  {
    breaks: 'a forced withdrawal is debited once',
    site: 'forced-once',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/forced-withdrawals',
  },
  {
    breaks: 'a forced withdrawal takes isolated lots of its token first',
    site: 'forced-lots-first',
    change: assigns('ZERO_18'),
    caughtBy: 'test/clearing/funds/forced-withdrawals',
  },
  {
    breaks: 'a forced withdrawal ends withdrawals that no approval may exist of, as far as it needs their funds',
    site: 'forced-ends-withdrawals',
    change: assigns('isCovered() ? [] : []'),
    caughtBy: 'test/clearing/funds/forced-withdrawals',
  },
  {
    breaks: 'a forced withdrawal beyond what is owned ends unsigned withdrawals of all assets',
    site: 'forced-ends-others',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'nothing is withdrawn while account 0 owes what a vault paid by force',
    site: 'withdrawal-of-debtor',
    change: swap(/!owesForced\(.*?\) && /, ''),
    caughtBy: 'test/clearing/funds/forced-withdrawals',
  },
  {
    breaks: 'no own order of a user is filled while account 0 owes what a vault paid by force',
    site: 'fill-of-debtor',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/forced-withdrawals',
  },
  {
    breaks: 'an order of the node is filled although account 0 of its user owes',
    site: 'node-order-of-debtor',
    change: assigns('true'),
    caughtBy: 'test/clearing/liquidation/rounds',
  },
  {
    breaks: 'no sub-account settles while account 0 owes what a vault paid by force',
    site: 'settlement-of-debtor',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'clearing receives an event of a simulated chain only after the file of the chain contains it',
    site: 'file-before-clearing',
    change: removed,
    caughtBy: 'test/simulation/funds',
  },
  {
    breaks: 'a deposit that comes again, after a replay or a reorganisation, is credited once',
    site: 'deposit-counter',
    change: condition('depositNonce > expected'),
    caughtBy: 'test/simulation/funds',
  },
  {
    breaks: 'what a withdrawal locked returns when it is cancelled or lapses',
    site: 'lock-returns',
    change: removed,
    caughtBy: 'test/simulation/funds',
  },
  {
    breaks: 'an approval that was used never lapses',
    site: 'lapse-of-used-approval',
    change: swap(/ \|\| counter > slot\.row\.nonce/, ''),
    caughtBy: 'test/clearing/funds/withdrawals',
  },
  {
    breaks: 'numbers of requests are used once, over all starts',
    site: 'withdrawal-number-of-gone',
    change: removed,
    caughtBy: 'test/clearing/funds/withdrawals',
  },
  {
    breaks: 'a withdrawal whose place another has taken is due no more',
    site: 'displaced-is-not-due',
    change: removed,
    caughtBy: 'test/clearing/funds/withdrawals',
  },
  {
    breaks: 'withdrawals that are due at one time end in one order, whatever the order of their rows',
    site: 'due-in-one-order',
    change: removed,
    caughtBy: 'test/clearing/funds/withdrawals',
  },
];

const SETTLEMENTS: readonly Mutant[] = [
  {
    breaks: 'a unit of a vault is promised once, to a withdrawal or to a settlement',
    site: 'units-of-settlements',
    change: assigns('units - promised.units'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'an approval does not outlive the expiry that was signed',
    site: 'settlement-expiry',
    change: assigns('latest'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'the settler of a settlement is registered on its chain',
    site: 'settler-registered',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'a named nonce is not in use',
    site: 'settlement-nonce',
    change: swap(/ && live\.every\(.*\)/, ''),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'a margin account keeps its margin without what a settlement locks',
    site: 'settlement-margin',
    change: assigns('true'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'an approval that was signed is not taken back',
    site: 'settlement-refused-once-signed',
    change: condition('row === null'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'an approval ends by a block past its expiry',
    site: 'settlement-lapse',
    change: condition('row === null || input.counter > row.nonce'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'a settlement is booked once, however often the chain shows it',
    site: 'settled-once',
    change: condition('false'),
    caughtBy: 'test/clearing/funds/settlements',
  },
  {
    breaks: 'a row that may have been signed before the start is not taken back',
    site: 'settlement-refused-after-restart',
    change: condition('true'),
    caughtBy: 'test/chain/settlement-approvals',
  },
  {
    breaks: 'so many requests wait for another thread and no more',
    site: 'passed-requests-bounded',
    change: condition('this.#channel === null'),
    caughtBy: 'test/http/passed-requests',
  },
  {
    breaks: 'clients that leave do not fill the queue between two threads',
    site: 'passed-requests-of-leavers',
    change: condition('!call.open'),
    caughtBy: 'test/http/passed-requests',
  },
  {
    breaks: 'so many sockets of another thread and no more',
    site: 'passed-sockets-bounded',
    change: condition('this.#channel === null'),
    caughtBy: 'test/http/passed-sockets',
  },
  {
    breaks: 'one batch of frames is on its way between two threads',
    site: 'one-batch-on-its-way',
    change: condition('this.#first < this.#queue.length'),
    caughtBy: 'test/http/passed-sockets',
  },
  {
    breaks: 'frames of a client that the other thread has not taken are bounded',
    site: 'untaken-frames-bounded',
    change: condition('false'),
    caughtBy: 'test/http/passed-sockets',
  },
  {
    breaks: 'waiting frames of some sockets close no other socket',
    site: 'held-frames-of-others',
    change: condition('this.#bytes + cost > HELD_MAX'),
    caughtBy: 'test/http/passed-sockets',
  },
  {
    breaks: 'the thread of history is loading until it has opened the tables',
    site: 'history-is-loading',
    change: swap(/isOpen/, 'heartbeat'),
    caughtBy: 'test/gateway/history-thread',
  },
  {
    breaks: 'an upgrade is decided in the pass that read it',
    site: 'upgrade-at-once',
    change: swap(/routes\.now/, 'routes.inTurn'),
    caughtBy: 'test/http/late-upgrades',
  },
  {
    breaks: 'a passed read waits behind the orders, as others do',
    site: 'passed-reads-in-turn',
    change: condition('false'),
    caughtBy: 'test/http/passed-requests',
  },
  {
    breaks: 'a login nonce is accepted only where it was issued',
    site: 'nonce-of-its-listener',
    change: swap(/\[place\]/, '.orders'),
    caughtBy: 'test/contract/one-origin',
  },
  {
    breaks: 'reads of market data have a bucket of tier default, a market maker one of its own',
    site: 'reads-of-makers',
    change: swap(/'marketMaker'/, "'default'"),
    caughtBy: 'test/gateway/sessions/user-limits',
  },
  {
    breaks: 'the times of a filter are judged',
    site: 'filter-of-times',
    change: condition('false'),
    caughtBy: 'test/contract/user-history',
  },
  {
    breaks: 'a page of open orders looks at no finished order',
    site: 'filter-without-finished',
    change: swap(/!statuses\.some/, 'statuses.some'),
    caughtBy: 'test/gateway/orders/row-filter',
  },
  {
    breaks: 'a reduction takes its share of the cost',
    site: 'basis-reduction',
    change: swap(/\(cost \* traded\) \/ held/, '0n'),
    caughtBy: 'test/gateway/orders/position-basis.property',
  },
  {
    breaks: 'a trade of memory that the tables have is added once',
    site: 'basis-of-memory',
    change: swap(/ > lastTradeId/, ' > 0'),
    caughtBy: 'test/gateway/orders/position-basis.property',
  },
  {
    breaks: 'no query member is ignored',
    site: 'query-member-ignored',
    change: condition('false'),
    caughtBy: 'test/http/query-members',
  },
  {
    breaks: 'only market makers read pending settlements',
    site: 'makers-only',
    change: condition('false'),
    caughtBy: 'test/http/pending-settlements-stream',
  },
  {
    breaks: 'the order of a maker is signed by the maker',
    site: 'maker-signature',
    change: assigns('null'),
    caughtBy: 'test/contract/settlements',
  },
  {
    breaks: 'a delegated settlement names its maker',
    site: 'maker-matches',
    change: condition('false'),
    caughtBy: 'test/contract/settlements',
  },
  {
    breaks: 'one user cannot take the approvals of all',
    site: 'approvals-of-one-user',
    change: condition('false'),
    caughtBy: 'test/chain/approval-signer',
  },
  {
    breaks: 'a refused row lets all others go first',
    site: 'approvals-in-turn',
    change: condition('true'),
    caughtBy: 'test/chain/approval-signer',
  },
  {
    breaks: 'an hour has at most the configured amount of a token',
    site: 'approvals-by-amount',
    change: condition('false'),
    caughtBy: 'test/chain/approval-signer',
  },
];

const LOAD: readonly Mutant[] = [
  {
    breaks: 'the price of the demo traders does not drift off',
    site: 'demo-price-pulled-back',
    change: swap(/ - this\.#ppm \/ PULL/, ''),
    caughtBy: 'test/load/demo-quotes',
  },
  {
    breaks: 'a latency counts from the time at which its message was due',
    site: 'latency-from-due-time',
    change: swap(/startMs \+ \(exchange\.sent \* 1_?000\) \/ perSecond/, 'nowMs()'),
    caughtBy: 'test/load/generator',
  },
  {
    breaks: 'a late generator has no figures',
    site: 'late-generator',
    change: returns('null'),
    caughtBy: 'test/load/figures',
  },
];

const CLIENT: readonly Mutant[] = [
  {
    breaks: 'a figure of the page of operators never spans two starts of a node',
    site: 'figures-of-one-start',
    change: removed,
    caughtBy: 'test/client/metric-window',
  },
  {
    breaks: 'a batch that cannot be sent leaves no action pending',
    site: 'batch-checked-first',
    change: removed,
    caughtBy: 'test/client/wire',
  },
];

export const MUTANTS: readonly Mutant[] = [
  ...TRACE,
  ...METRICS,
  ...STORAGE,
  ...NODE,
  ...MONEY,
  ...DEPOSITS,
  ...MATCHING,
  ...SESSIONS,
  ...MARGIN,
  ...LIQUIDATION,
  ...ORDERS,
  ...MARKET_DATA,
  ...WIRE,
  ...RING_AND_BOOK,
  ...CHAINS,
  ...SETTLEMENTS,
  ...LOAD,
  ...CLIENT,
];
