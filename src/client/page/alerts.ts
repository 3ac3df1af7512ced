/**
 * What needs attention, as alerts of Prometheus and as lines of the operations page: config/alerts.yml has the same names, severities,
 * conditions and texts in the same order, and a test holds the two together. To add one, add it in both.
 *
 * Texts are templates of Prometheus: `{{ $value }}`, `{{ $labels.chain }}`, `{{ $value | humanizeDuration }}`.
 */
import {
  ahead,
  below,
  type Condition,
  compared,
  comparedWhile,
  elsewhere,
  endsWithin,
  farFromZero,
  faster,
  fasterBy,
  grew,
  MAJORITY_LAST,
  MAJORITY_LOST,
  moreThanShare,
  NOT_READY,
  ofThreads,
  ratio,
  slower,
} from './alert-conditions.ts';

interface Alert {
  readonly name: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly condition: Condition;
  /** What it means. */
  readonly summary: string;
  /** What to do. */
  readonly action: string;
}

/** Of all nodes: a page has one. */
const BEHIND =
  'max(ringbook_replication_sequence{at="stored"}) - on () group_right () ringbook_replication_sequence{at="applied"} > 10000';

export const ALERTS: readonly Alert[] = [
  {
    name: 'RingbookAccountsAtRisk',
    severity: 'info',
    condition: compared('ringbook_accounts_at_risk', '>', 100),
    summary: '{{ $value }} margin accounts are close to liquidation',
    action: 'Look at `ringbook risk`. Check that prices arrive for every asset, and that makers quote.',
  },
  {
    name: 'RingbookAccountsShielded',
    severity: 'warning',
    condition: compared('ringbook_accounts_shielded', '>', 0),
    summary: '{{ $value }} accounts below maintenance are not liquidated: a credit of theirs has a broken price',
    action:
      'See which oracle is broken (ringbook_breaker_open) and publish its price; three good ones end it. Until then their losses can grow.',
  },
  {
    name: 'RingbookLiquidationBlocked',
    severity: 'critical',
    condition: compared('ringbook_liquidations_blocked', '>', 0),
    summary: '{{ $value }} accounts below maintenance have a position that takes no order',
    action:
      'Publish a price of the asset (`ringbook risk accounts` has the accounts), or open its halted market: until then nothing is sold and nothing is taken over.',
  },
  {
    name: 'RingbookChainStopped',
    severity: 'critical',
    condition: compared('ringbook_chain_stopped', '>', 0),
    summary: 'Nothing is credited or approved on chain {{ $labels.chain }}',
    action: 'Find the reason in the log (`the chain is stopped`), then follow docs/funds.md, *A stopped chain*.',
  },
  {
    name: 'RingbookChainUnanswered',
    severity: 'critical',
    condition: compared('ringbook_chain_head', '<', 0),
    summary: 'no majority of the providers of chain {{ $labels.chain }} answers',
    action:
      'The log has which providers do not answer, or not alike (`no majority`): replace them with `PUT /operator/chains/…`. Deposits wait and nothing is lost.',
  },
  {
    name: 'RingbookChainMajorityLost',
    severity: 'critical',
    condition: MAJORITY_LOST,
    summary: 'no majority of the providers of chain {{ $labels.chain }} agrees',
    action:
      'Nothing is credited or approved until more than half of the configured ones agree. The log has which do not answer, or not alike: replace them with `PUT /operator/chains/…`.',
  },
  {
    name: 'RingbookChainRedundancyLost',
    severity: 'warning',
    condition: MAJORITY_LAST,
    summary: 'one more provider of chain {{ $labels.chain }} that fails ends its majority',
    action:
      'The log has which provider does not answer, or not alike: replace it with `PUT /operator/chains/…`. Nothing waits yet.',
  },
  {
    name: 'RingbookChainProviderBomb',
    severity: 'warning',
    condition: grew('ringbook_chain_provider_bombs_total', '30m'),
    summary: 'a provider of chain {{ $labels.chain }} sent an answer beyond its bounds',
    action:
      'The log has which one; it rests for five minutes after each. Ask its company, or replace it with `PUT /operator/chains/…`.',
  },
  {
    name: 'RingbookChainBehind',
    severity: 'warning',
    condition: ahead('ringbook_chain_head', 'ringbook_chain_processed_block', 200, true),
    summary: 'chain {{ $labels.chain }} is read {{ $value }} blocks behind its head',
    action:
      'Normal while the blocks before a new vault are read, and with that many confirmations. Otherwise the log has why deposits wait; after it ends they are credited.',
  },
  {
    name: 'RingbookChainNotPolled',
    severity: 'critical',
    condition: compared('ringbook_chain_poll_age_seconds', '>', 60),
    summary: 'chain {{ $labels.chain }} was last polled {{ $value | humanizeDuration }} ago',
    action: 'The thread of EVM chains hangs. Nothing is credited or approved; a restart of the node is safe.',
  },
  {
    name: 'RingbookHoldingsDeviate',
    severity: 'critical',
    condition: compared('ringbook_holdings_deviation', '!=', 0),
    summary: 'The vaults hold {{ $value }} more of asset {{ $labels.asset }} than the ledger says',
    action: 'Negative: the ledger owes what no vault has; follow docs/funds.md, *Ledger and chain differ*.',
  },
  {
    name: 'RingbookApprovalsStopped',
    severity: 'critical',
    condition: compared('ringbook_approvals_stopped_units', '>', 0),
    summary:
      'nothing of asset {{ $labels.asset }} is approved on chain {{ $labels.chain }}: its vault lacks {{ $value }}',
    action:
      'Withdrawals and settlements of it wait there. Find out what left the vault (docs/funds.md, *Approvals beyond the vault*); approvals go on by themselves when it has enough again, or by `POST /operator/chains/…/accept-deviation`.',
  },
  {
    name: 'RingbookTakeOver',
    severity: 'warning',
    condition: grew('ringbook_liquidations_total', '5m', { event: 'taken_over' }),
    summary: 'the backstop took over {{ $value }} accounts in five minutes: the book did not take their positions',
    action:
      'Look at `ringbook risk backstop`. Ask makers to quote; check price collars and halted markets, which hold sales back.',
  },
  {
    name: 'RingbookBackstopShortfall',
    severity: 'critical',
    condition: grew('ringbook_shortfall_usd_total', '1h'),
    summary: 'accounts taken over in the last hour lacked {{ $value }} USD',
    action:
      'The loss is in the capital of the backstop. Transfer USD to its account 0, and raise margin factors of the asset if gaps like this are to be expected.',
  },
  {
    name: 'RingbookBackstopInsolvent',
    severity: 'critical',
    condition: compared('ringbook_backstop_equity_usd', '<', 0),
    summary: 'the backstop is worth {{ $value }} USD',
    action:
      'What it credited exceeds what it owns: the venue owes this to its users. Transfer USD to account 0 of the backstop account.',
  },
  {
    name: 'RingbookBackstopFull',
    severity: 'warning',
    condition: compared('ringbook_backstop_accounts', '>', 200),
    summary: 'the backstop holds {{ $value }} accounts of 254; with all in use accounts are put together',
    action:
      'See `ringbook risk backstop`: it sells only into bids or offers, so makers have to quote. The settings `backstop_clip_fraction` and `backstop_clip_usd` set how fast it sells.',
  },
  {
    name: 'RingbookAutoDeleveraging',
    severity: 'critical',
    condition: grew('ringbook_adl_trades_total', '5m'),
    summary: '{{ $value }} profitable positions were closed against the backstop in five minutes',
    action:
      'Inform the users concerned (log lines `auto-deleveraging` have them). Look at `ringbook risk backstop`: what is still held loses with every move.',
  },
  {
    name: 'RingbookOracleBroken',
    severity: 'critical',
    condition: compared('ringbook_breaker_open', '==', 1, { source: 'oracle' }),
    summary: 'asset {{ $labels.asset }} has no usable oracle price',
    action:
      'Publish prices. Without one nothing in the asset is liquidated, taken over or deleveraged, and its collateral counts zero.',
  },
  {
    name: 'RingbookOracleLate',
    severity: 'warning',
    condition: compared('ringbook_oracle_age_seconds', '>', 900),
    summary: 'the last oracle price of asset {{ $labels.asset }} is {{ $value | humanizeDuration }} old',
    action:
      'Look at the price feed, and publish a price. After an hour it is not used any more, and margin in the asset stops (RingbookOracleBroken).',
  },
  {
    name: 'RingbookDown',
    severity: 'critical',
    condition: elsewhere('up{job="ringbook"} == 0'),
    summary: 'the node at {{ $labels.instance }} does not answer its metrics',
    action:
      'Look at its log and at `GET /readyz`. A node that ended itself wrote the reason as its last line; start it again, recovery is automatic.',
  },
  {
    name: 'RingbookNotReady',
    severity: 'critical',
    condition: NOT_READY,
    summary: 'the node at {{ $labels.instance }} has not served for five minutes',
    action:
      '`GET /readyz` has what it waits for, and how far a start is: the progress of a long recovery rises. See its log.',
  },
  {
    name: 'RingbookRestarted',
    severity: 'warning',
    condition: elsewhere('changes(process_start_time_seconds{job="ringbook"}[15m]) > 0'),
    summary: 'the node at {{ $labels.instance }} was started {{ $value }} times in 15 minutes',
    action: 'Unless an operator did it: the last lines of the log before the start have the reason.',
  },
  {
    name: 'RingbookLedgerDiffers',
    severity: 'critical',
    condition: compared('ringbook_ledger_difference', '!=', 0),
    summary: 'claims and holdings differ by {{ $value }} units',
    action: 'Stop the node, keep its directory, and run `ringbook verify`: a booking is wrong.',
  },
  {
    name: 'RingbookInternalErrors',
    severity: 'warning',
    condition: grew('ringbook_refusals_total', '5m', { code: 'INTERNAL_ERROR' }),
    summary: '{{ $value }} requests failed inside of the node in five minutes',
    action: 'The log has a line `request failed` with the stack of each: report it.',
  },
  {
    name: 'RingbookFileDescriptors',
    severity: 'critical',
    condition: ratio('process_open_fds', 'process_max_fds', '>', 0.8),
    summary: '{{ $value | humanizePercentage }} of the file descriptors are in use',
    action: 'Raise `ulimit -n`, or lower `addresses.sockets`: without a free one no client can connect.',
  },
  {
    name: 'RingbookDiskFull',
    severity: 'critical',
    condition: ratio('ringbook_data_disk_free_bytes', 'ringbook_data_disk_bytes', '<', 0.1),
    summary: '{{ $value | humanizePercentage }} of the disk with the data is free',
    action:
      'A node that cannot write ends. Enlarge the disk, or remove backups and logs from it; `snapshots` keeps the journal short (docs/operating.md, *Data*).',
  },
  {
    name: 'RingbookSnapshotFailed',
    severity: 'warning',
    condition: grew('ringbook_snapshots_total', '1h', { result: 'failed' }),
    summary: 'a snapshot failed: the journal was not pruned',
    action:
      'The log has the reason (`no snapshot, nothing is pruned`): the disk is full, or tables and journal contradict each other. Then run `ringbook verify` on a backup.',
  },
  {
    name: 'RingbookCertificateEnds',
    severity: 'warning',
    condition: endsWithin('ringbook_tls_certificate_expiry_timestamp_seconds', 14),
    summary: 'the certificate of the public listeners ends in {{ $value | humanizeDuration }}',
    action:
      'Renew it and send the node a SIGHUP: it reads the files again. Without that clients refuse new connections afterwards.',
  },
  {
    name: 'RingbookEvidenceBehind',
    severity: 'critical',
    condition: compared('ringbook_evidence_behind_seconds', '>', 3),
    summary: 'the evidence is {{ $value }} s behind',
    action:
      'From 10 s on the node takes no orders. Its thread has no CPU, or the disk is slow: see ringbook_evidence_flush_seconds and ringbook_thread_cpu_seconds_total.',
  },
  {
    name: 'RingbookEvidenceWithoutHead',
    severity: 'critical',
    condition: comparedWhile('ringbook_evidence_uncovered_records', 0, 'ringbook_evidence_head_age_seconds', 60),
    summary: 'no head of the evidence covers {{ $value }} records',
    action:
      'The certificate of the log key has ended, or a witness has seen more than this node has: the log has the reason. `ringbook evidence certify` makes a certificate.',
  },
  {
    name: 'RingbookEvidenceWitnesses',
    severity: 'warning',
    condition: below('ringbook_evidence_witnesses', 'ringbook_evidence_quorum'),
    summary: '{{ $value }} witnesses cosign heads, fewer than are promised',
    action: 'The log has the answer of each witness. Nothing stops, and users see that the quorum is missing.',
  },
  {
    name: 'RingbookOpenOrders',
    severity: 'warning',
    condition: ratio('ringbook_open_orders', 'ringbook_open_orders_limit', '>', 0.5),
    summary: '{{ $value | humanizePercentage }} of the open orders that the node takes are there',
    action:
      'From here on orders of users with many are rejected (TOO_MANY_OPEN_ORDERS). `max_open_orders_node` of `PATCH /operator/settings` raises the bound if there is memory for it.',
  },
  {
    name: 'RingbookSlowAnswers',
    severity: 'warning',
    condition: slower('ringbook_action_seconds', 0.05, { labels: { action: 'create' } }),
    summary: 'one create of a hundred takes longer than {{ $value | humanizeDuration }}',
    action:
      'ringbook_action_stage_seconds has the stage; docs/latency.md explains each. With RINGBOOK_TRACE=1 `ringbook trace` has the cause of single answers.',
  },
  {
    name: 'RingbookSlowCommits',
    severity: 'warning',
    condition: slower('ringbook_commit_seconds', 0.1),
    summary: 'one commit of a hundred takes {{ $value | humanizeDuration }}',
    action:
      'The disk is slow or shared. Fills are confirmed as late as this; with durable acknowledgements answers are too.',
  },
  {
    name: 'RingbookUnflushed',
    severity: 'critical',
    condition: compared('ringbook_unflushed_seconds', '>', 1),
    summary: 'market events have waited for their flush for {{ $value }} s',
    action:
      'A kill now loses them. Clearing or its disk is stuck: see ringbook_mailbox_depth of clearing and ringbook_commit_seconds.',
  },
  {
    name: 'RingbookNoCheckpoint',
    severity: 'warning',
    condition: ahead('ringbook_journal_sequence', 'ringbook_checkpoint_sequence', 20_000),
    summary: '{{ $value }} journal records are not in the tables',
    action:
      'A restart replays them first, so it takes longer. Clearing has no time for a checkpoint: see its CPU and ringbook_checkpoint_seconds.',
  },
  {
    name: 'RingbookOrdersShed',
    severity: 'warning',
    condition: fasterBy('stage', 'ringbook_orders_shed_total', 1, '1m'),
    summary: '{{ $value }} orders a second are refused because they waited too long for: {{ $labels.stage }}',
    action: 'More arrives than the node can do; docs/operating.md, *Overload*.',
  },
  {
    name: 'RingbookRingFilling',
    severity: 'warning',
    condition: compared('ringbook_ring_used_ratio', '>', 0.5),
    summary: 'the ring from {{ $labels.from }} to {{ $labels.to }} is {{ $value | humanizePercentage }} full',
    action:
      '{{ $labels.to }} does not keep up. Full, a command ring answers 503, and an event ring holds its market back.',
  },
  {
    name: 'RingbookVerifierBusy',
    severity: 'warning',
    condition: ratio('ringbook_verifier_signatures', 'ringbook_verifier_signatures_limit', '>', 0.8),
    summary: 'the verifier has {{ $value | humanizePercentage }} of the signatures beyond which orders wait',
    action:
      'Give it a thread more (`threads.verifyThreads`). Beyond its bound orders wait at the gateway, where cancels overtake them.',
  },
  {
    name: 'RingbookGlobalBudget',
    severity: 'warning',
    condition: faster('ringbook_rate_limited_total', 1, '5m', { bucket: 'global' }),
    summary: '{{ $value }} requests a second are refused because the budget of all users is empty',
    action:
      'Raise `global` of `PUT /operator/rate-limits` if the node has room, else lower what single users may send.',
  },
  {
    name: 'RingbookAttestationsDropped',
    severity: 'info',
    condition: grew('ringbook_attestations_dropped_total', '5m'),
    summary: 'clearing verifies {{ $value }} orders a second time',
    action: 'Clearing was stuck for more than a second: see its mailbox and the commits of that time.',
  },
  {
    name: 'RingbookThreadBusy',
    severity: 'warning',
    condition: ofThreads('ringbook_thread_cpu_seconds_total', 0.9, '5m'),
    summary: 'the thread {{ $labels.thread }} uses {{ $value | humanizePercentage }} of a core',
    action:
      'This thread is the bound of the node. Markets and verifiers can be given more threads (`threads`), the others a faster core.',
  },
  {
    name: 'RingbookNoCpu',
    severity: 'warning',
    condition: ofThreads('ringbook_thread_wait_seconds_total', 0.2, '5m'),
    summary: 'the thread {{ $labels.thread }} waits for a CPU {{ $value | humanizePercentage }} of the time',
    action: 'The machine has too few cores for what runs on it, or the container a low CPU limit.',
  },
  {
    name: 'RingbookLoopDelay',
    severity: 'warning',
    condition: slower('ringbook_event_loop_delay_seconds', 0.1, { by: 'thread' }),
    summary: 'timers of the thread {{ $labels.thread }} are {{ $value | humanizeDuration }} late',
    action: 'Its event loop is held up: see CPU, waiting time and collector pauses of the thread.',
  },
  {
    name: 'RingbookCollector',
    severity: 'warning',
    condition: faster('ringbook_collector_pause_seconds_sum', 0.1, '5m'),
    summary: 'the collector stops the thread {{ $labels.thread }} {{ $value | humanizePercentage }} of the time',
    action:
      'The heap of the thread is close to its limit, or the load makes more garbage than it should: see docs/operating.md, *Memory*.',
  },
  {
    name: 'RingbookLagCloses',
    severity: 'info',
    condition: fasterBy('service', 'ringbook_lag_closes_total', 0.1, '5m'),
    summary: 'clients of {{ $labels.service }} that do not keep up are disconnected, {{ $value }} a second',
    action:
      'They read too slowly for what they subscribed to; ringbook_socket_backlog_bytes has what waits for others.',
  },
  {
    name: 'RingbookBacklog',
    severity: 'warning',
    condition: compared('ringbook_socket_backlog_bytes', '>', 134_217_728),
    summary: '{{ $value | humanize1024 }}B wait for slow readers of {{ $labels.service }}',
    action: 'At 256 MiB the slowest are disconnected. Many slow clients at once are a network problem, or an attack.',
  },
  {
    name: 'RingbookRollbacks',
    severity: 'warning',
    condition: moreThanShare('ringbook_rollbacks_total', 0.01, 'ringbook_fills_total', { status: 'Pending' }, '5m'),
    summary: '{{ $value }} sides of fills a second are rolled back',
    action:
      'ringbook_rollbacks_total has the reasons, docs/matching.md what each means; ringbook_faults_total whose fault they are.',
  },
  {
    name: 'RingbookLogLinesDropped',
    severity: 'warning',
    condition: grew('ringbook_log_lines_dropped_total', '10m'),
    summary: 'lines of the log are missing',
    action:
      'Whatever reads standard error is paused, too slow, or its disk is full. The node goes on without it; mend the reader, then one line in the log says how many are missing.',
  },
  {
    name: 'RingbookClockDifference',
    severity: 'critical',
    condition: farFromZero('ringbook_clock_difference_seconds', 1),
    summary: 'the system clock is {{ $value }} s away from the clock of the node',
    action:
      'Orders of users are refused as too old or of the future. Look at NTP or PTP of the machine; docs/operating.md, *The clock*, has what the node does meanwhile.',
  },
  {
    name: 'RingbookClockHeld',
    severity: 'critical',
    condition: compared('ringbook_clock_held', '>', 0),
    summary: 'the system clock went far ahead, and nothing bears it out',
    action:
      'If the system clock is right, `POST /operator/wall-clock/accept` with the seconds of `GET /operator/wall-clock`. Otherwise correct it: the node is not ready until then.',
  },
  {
    name: 'RingbookDiskReserve',
    severity: 'critical',
    condition: compared('ringbook_data_disk_low', '>', 0),
    summary: 'less than disk_reserve_mib of the disk with the data is free: new orders are refused',
    action:
      'Make space: enlarge the disk, or remove backups and logs from it. Cancels go on; below an eighth of the reserve the node ends in order with 78.',
  },
  {
    name: 'RingbookNoLeader',
    severity: 'critical',
    condition: elsewhere('sum(ringbook_cluster_state{state="leading"}) == 0'),
    summary: 'no node of the cluster leads: no order is taken',
    action:
      '`ringbook cluster status`. While the servers elect a leader of the stream (4 to 9 s) nothing is to be done; else look at the servers first, then at the log of the standby.',
  },
  {
    name: 'RingbookTwoLeaders',
    severity: 'critical',
    condition: elsewhere('sum(ringbook_cluster_state{state="leading"}) > 1'),
    summary: '{{ $value }} nodes lead',
    action:
      'The one with the lower ringbook_cluster_epoch is over and gets no record stored. Stop it if it does not end by itself, and look at the clocks of the machines.',
  },
  {
    name: 'RingbookStandbyBehind',
    severity: 'warning',
    condition: elsewhere(BEHIND),
    summary: 'the node at {{ $labels.instance }} is {{ $value }} records behind the stream',
    action: 'Its disk, its CPU or its network is too slow. A takeover by it now takes longer by what it has to read.',
  },
  {
    name: 'RingbookReplicationLag',
    severity: 'warning',
    condition: compared('ringbook_replication_lag_seconds', '>', 5),
    summary: 'this standby is {{ $value | humanizeDuration }} behind the leader',
    action: 'A node that has just been started catches up. Else look at its disk, its CPU and its network.',
  },
  {
    name: 'RingbookReplicaLag',
    severity: 'warning',
    condition: compared('ringbook_replica_lag_seconds', '>', 2),
    summary: 'this replica is {{ $value | humanizeDuration }} behind the leader, or receives nothing',
    action:
      'Its clients see old books. Look at its network to the servers and its CPU; with the leader stalled it lasts until the servers have elected.',
  },
  {
    name: 'RingbookReplicaGaps',
    severity: 'warning',
    condition: faster('ringbook_replica_gaps_total', 0.0167, '5m'),
    summary: 'a replica misses messages again and again',
    action:
      'It reads its books anew each time. Look at the CPU of the replica and of the leader, and at slow consumers in the log of the servers.',
  },
  {
    name: 'RingbookStoreSlow',
    severity: 'warning',
    condition: slower('ringbook_replication_store_seconds', 0.05),
    summary: 'a record takes {{ $value | humanizeDuration }} until it is stored (p99)',
    action: 'Confirmations wait for it. Look at the disks of the servers and at the network between them.',
  },
  {
    name: 'RingbookLeaseShort',
    severity: 'warning',
    condition: ratio('ringbook_cluster_lease_seconds', 'ringbook_cluster_lease_length_seconds', '<', 0.33),
    summary: 'the lease of the leader is nearly over again and again',
    action:
      'Records are stored late: a little later and the leader is stalled, and a standby takes over. Look at the servers, the network and the CPU of the leader.',
  },
  {
    name: 'RingbookLeaderStalled',
    severity: 'warning',
    condition: grew('ringbook_cluster_stalled_seconds_total', '5m'),
    summary: 'the leader was stalled for {{ $value | humanizeDuration }}: nothing was confirmed',
    action:
      "The server with the stream's leader died (4 to 9 s), two servers are gone, the stream is full, or the process was stopped. `ringbook cluster status` has the servers.",
  },
  {
    name: 'RingbookTakeover',
    severity: 'warning',
    condition: grew('ringbook_cluster_takeovers_total', '15m', { cause: 'silence' }),
    summary: 'a node took over because the leader was silent',
    action: 'Find what the leader before it died of, in the last line of its log, and start it again: it follows.',
  },
  {
    name: 'RingbookAppendsRefused',
    severity: 'warning',
    condition: grew('ringbook_cluster_appends_refused_total', '5m'),
    summary: 'the stream refused a record: another node had appended',
    action: 'A leader that is refused is over and ends with 75. Start it again; look why it was silent.',
  },
  {
    name: 'RingbookStreamHalfFull',
    severity: 'warning',
    condition: ratio('ringbook_stream_bytes', 'ringbook_stream_bytes_limit', '>', 0.5),
    summary: 'the stream of the journal has {{ $value | humanizePercentage }} of its limit',
    action:
      'Full, it refuses and nothing is confirmed. docs/cluster.md, *The stream is full*, has why it is not truncated, and how to raise the limit.',
  },
  {
    name: 'RingbookStreamServers',
    severity: 'warning',
    condition: compared('ringbook_stream_servers_current', '<', 3),
    summary: '{{ $value }} servers of the stream are current',
    action:
      'The next failure of a server closes the venue. Start the missing one, or replace it as docs/cluster.md has it: one at a time.',
  },
  {
    name: 'RingbookStreamLeaderAtHome',
    severity: 'warning',
    condition: compared('ringbook_stream_leader_at_home', '==', 1),
    summary: 'the leader of the stream is on the machine of the leader',
    action:
      'The death of this machine would cost an election of the servers too. The node moves it when all servers are current: see RingbookStreamServers.',
  },
  {
    name: 'RingbookNoStandby',
    severity: 'warning',
    condition: compared('ringbook_cluster_standbys', '==', 0),
    summary: 'no node follows the leader',
    action: 'The next failure closes the venue. Start a standby; `ringbook cluster status` has which node is missing.',
  },
  {
    name: 'RingbookDroppedRecords',
    severity: 'warning',
    condition: compared('ringbook_cluster_dropped_records', '>', 0),
    summary: '{{ $value }} records of this node are not in the stream of its cluster',
    action:
      'Nothing in them was Confirmed. Read them in `dropped` of the data directory, find out why the node was over, then `ringbook cluster acknowledge NODE`.',
  },
];
