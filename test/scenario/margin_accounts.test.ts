/** Margin accounts: made on first use, sub-accounts that open and close, transfers between them; every refusal moves nothing. */
import t from 'tap'
import { AgentGrant, CommandType } from '../../core/layout/command.ts'
import { SCALAR } from '../../core/state/columns.ts'
import { MARGIN_ACCOUNT, MarginAccountKind } from '../../core/state/margin_rows.ts'
import { get, getF64, marginAccountRow } from '../../core/state/rows.ts'
import { MarginAccountScene, playAccounts } from '../support/margin_account_scene.ts'
import { granting } from '../support/scenario_agents.ts'

playAccounts(t, 'the parent is made by its first deposit and gives back what is free', {
  given: ['ann 1000'],
  when: [
    ['ann withdraws 1', 'refused INSUFFICIENT_COLLATERAL 1 of 0'],
    ['ann deposits 1000.000001', 'refused INSUFFICIENT_BALANCE 1000.000001 of 1000'],
    ['ann deposits 0', 'refused VALIDATION_ERROR'],
    ['ann deposits 600', 'done'],
    ['ann deposits 0.000001', 'done'],
    ['ann withdraws 100', 'done'],
    ['ann withdraws 500.000002', 'refused INSUFFICIENT_COLLATERAL 500.000002 of 500.000001'],
    ['ann withdraws 500.000001', 'done'],
  ],
  money: ['ann 1000: 0 deposited, 0 earmarked'],
})

playAccounts(t, 'a deposit with a key is made once', {
  given: ['ann 1000'],
  when: [
    ['ann deposits 5 key=a', 'done'],
    ['ann deposits 5 key=a', 'repeated'],
    ['ann deposits 6 key=a', 'refused IDEMPOTENCY_KEY_CONFLICT'],
    ['ann deposits 6 key=b', 'done'],
  ],
  money: ['ann 989: 11 deposited, 0 earmarked'],
})

playAccounts(t, 'collateral moves between parent and sub-accounts, and from the wallet to either', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['ann opens s1 label=short-term', 'done'],
    ['ann gives s1 1', 'refused INSUFFICIENT_COLLATERAL 1 of 0'],
    ['ann deposits 300', 'done'],
    ['ann gives s1 300.5', 'refused INSUFFICIENT_COLLATERAL 300.5 of 300'],
    ['ann gives s1 120', 'done'],
    ['ann takes 20 from s1', 'done'],
    ['ann takes 100.1 from s1', 'refused INSUFFICIENT_COLLATERAL 100.1 of 100'],
    ['ann deposits 50 into=s1', 'done'],
    ['ann withdraws 30 from=s1', 'done'],
    ['ann gives nobody 1', 'refused NOT_FOUND'],
    ['ann deposits 1 into=nobody', 'refused NOT_FOUND'],
    ['bob takes 1 from s1', 'refused NOT_FOUND'],
    ['bob withdraws 1 from=s1', 'refused NOT_FOUND'],
    ['bob closes s1', 'refused NOT_FOUND'],
  ],
  money: ['ann 680: 200 deposited, 0 earmarked', 's1 120 deposited, 0 earmarked', 'bob 1000: none'],
})

playAccounts(t, 'a sub-account that closes gives everything to the parent, profits and losses of its buckets too', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['ann opens s1', 'done'],
    ['ann deposits 500 into=s1', 'done'],
    ['ann keys b1 BTC in=s1', 'new'],
    ['ann keys b2 ETH in=s1', 'new'],
    ['ann adds 100 to b1', 'done'],
    ['ann adds 100 to b2', 'done'],
    ['bob deposits 500', 'done'],
    ['bob keys c1 BTC', 'new'],
    ['bob keys c2 ETH', 'new'],
    ['bob adds 100 to c1', 'done'],
    ['bob adds 100 to c2', 'done'],
    ['b1 trades 10 at 50000 with c1', 'done'],
    ['ann closes s1', 'refused MARGIN_ACCOUNT_NOT_FLAT'],
    ['c1 trades 10 at 51000 with b1', 'done'],
    ['b2 trades 10 at 30000 with c2 on=ETH', 'done'],
    ['c2 trades 10 at 29000 with b2 on=ETH', 'done'],
    ['ann closes s1', 'done'],
    ['ann closes s1', 'refused NOT_FOUND'],
    ['ann deposits 1 into=s1', 'refused NOT_FOUND'],
    ['ann adds 1 to b1', 'refused NOT_FOUND'],
  ],
  money: ['ann 500: 500 deposited, 0 earmarked', 'bob 500: 500 deposited, 200 earmarked'],
})

playAccounts(t, 'a sub-account with a bucket in liquidation, in bad debt or without equity does not close', {
  given: ['ann 1000', 'bob 1000'],
  when: [
    ['ann opens s1', 'done'],
    ['ann deposits 500 into=s1', 'done'],
    ['ann keys b1 BTC in=s1', 'new'],
    ['ann adds 100 to b1', 'done'],
    ['bob deposits 500', 'done'],
    ['bob keys c1 BTC', 'new'],
    ['bob adds 100 to c1', 'done'],
    ['state b1 LIQUIDATING', 'done'],
    ['ann closes s1', 'refused RISK_BUCKET_IN_LIQUIDATION'],
    ['state b1 BAD_DEBT', 'done'],
    ['ann closes s1', 'refused RISK_BUCKET_IN_LIQUIDATION'],
    ['state b1 ACTIVE', 'done'],
    ['b1 trades 30 at 50000 with c1', 'done'],
    ['mark 1', 'done'],
    ['c1 trades 30 at 1 with b1', 'done'],
    ['ann closes s1', 'refused RISK_BUCKET_IN_LIQUIDATION'],
  ],
})

playAccounts(t, 'maintenance stops all of it', {
  given: ['ann 1000'],
  when: [
    ['ann deposits 100', 'done'],
    ['ann opens s1', 'done'],
    ['ann keys b1', 'new'],
    ['maintenance on', 'done'],
    ['ann deposits 1', 'refused OPERATIONS_BLOCKED'],
    ['ann withdraws 1', 'refused OPERATIONS_BLOCKED'],
    ['ann gives s1 1', 'refused OPERATIONS_BLOCKED'],
    ['ann adds 1 to b1', 'refused OPERATIONS_BLOCKED'],
    ['ann opens s2', 'refused OPERATIONS_BLOCKED'],
    ['ann closes s1', 'refused OPERATIONS_BLOCKED'],
    ['ann keys b2', 'refused OPERATIONS_BLOCKED'],
    ['maintenance off', 'done'],
    ['ann closes s1', 'done'],
  ],
  money: ['ann 900: 100 deposited, 0 earmarked'],
})

playAccounts(t, 'as many sub-accounts as the genesis allows; one that was closed makes room', {
  given: ['ann 1'],
  limits: { marginSubAccounts: 2 },
  when: [
    ['ann opens s1', 'done'],
    ['ann opens s2', 'done'],
    ['ann opens s3', 'refused TOO_MANY_MARGIN_ACCOUNTS'],
    ['ann closes s1', 'done'],
    ['ann opens s4', 'done'],
    ['ann opens s5', 'refused TOO_MANY_MARGIN_ACCOUNTS'],
  ],
})

playAccounts(t, 'rows of margin accounts are shared out', {
  given: ['ann 1', 'bob 1', 'cat 1'],
  limits: { marginAccounts: 4 },
  when: [
    // An eighth of four rows is less than one, and everybody may hold one: that is the parent.
    ['ann opens s1', 'refused TOO_MANY_MARGIN_ACCOUNTS'],
    ['ann deposits 1', 'done'],
    ['ann opens s2', 'refused TOO_MANY_MARGIN_ACCOUNTS'],
    ['bob deposits 1', 'done'],
    ['cat deposits 1', 'done'],
    ['cat opens s3', 'refused TOO_MANY_MARGIN_ACCOUNTS'],
    ['dan deposits 1', 'refused INSUFFICIENT_BALANCE 1 of 0'],
  ],
})

t.test('a closed row goes to the next sub-account with another id, and no version falls', async (t) => {
  const scene = new MarginAccountScene()
  scene.give('ann 100')
  t.equal(scene.step('ann opens s1'), 'done')
  t.equal(scene.step('ann deposits 5 into=s1'), 'done')
  const { row, sequence } = scene.subs.get('s1')!
  const version = getF64(scene.state, marginAccountRow(scene.state, row), MARGIN_ACCOUNT.VERSION)
  t.equal(scene.step('ann closes s1'), 'done')
  t.equal(scene.step('ann opens s2 label=second'), 'done')
  const second = scene.subs.get('s2')!
  const at = marginAccountRow(scene.state, second.row)
  t.equal(second.row, row)
  t.ok(second.sequence > sequence)
  t.ok(getF64(scene.state, at, MARGIN_ACCOUNT.VERSION) > version)
  t.equal(get(scene.state, at, MARGIN_ACCOUNT.KIND), MarginAccountKind.SUB)
  t.equal(scene.step('ann deposits 1 into=s1'), 'refused NOT_FOUND', 'the one before is not meant')
})

t.test('a label is text, then zeros', async (t) => {
  const scene = new MarginAccountScene()
  const opens = (label: string): unknown => scene.send(CommandType.OPEN_MARGIN_ACCOUNT, { ...scene.signed('ann'), label })['code']
  const padded = (bytes: number[]): string => Buffer.from(bytes).toString('hex').padEnd(64, '0')
  t.equal(opens(padded([...Buffer.from('größe €')])), 0)
  for (const bytes of [[0x41, 0, 0x41], [0x1f], [0x41, 0x7f], [0x0a]]) t.equal(opens(padded(bytes)), 200, bytes.join())
})

t.test('who has no session, or one of a delegated agent, moves nothing', async (t) => {
  const scene = new MarginAccountScene()
  scene.give('ann 100')
  const commands: [CommandType, Record<string, number>][] = [
    [CommandType.MOVE_COLLATERAL, { move: 0, marginAccount: -1, bucket: -1, amount: 1 }], [CommandType.OPEN_MARGIN_ACCOUNT, {}],
    [CommandType.CLOSE_MARGIN_ACCOUNT, { marginAccount: 0, createdSequence: 1 }],
  ]
  const agent = scene.agentOf('ann')
  for (const [type, values] of commands) {
    const before = scene.digest()
    t.equal(scene.send(type, values)['code'], 113, 'SESSION_INVALID')
    const refused = scene.send(type, { ...values, ...agent })
    t.match(refused, { code: 118, detail: 9 }, 'AGENT_NOT_ALLOWED, lacking OPERATION')
    t.equal(scene.digest(), before)
  }
})

t.test('a delegated agent opens the buckets that it may place orders in', async (t) => {
  const scene = new MarginAccountScene()
  scene.give('ann 100')
  const bucket = { marginAccount: -1, keyLow: 7, strategyKey: Buffer.from('grid').toString('hex').padEnd(96, '0') }
  const opens = (granted: string[], pair: number, more = 0): unknown[] => {
    const { type, values } = granting(granted, scene.time)
    scene.send(type, { ...scene.signed('ann'), ...values, grants: Number(values['grants']) | more })
    const { code, detail } = scene.send(CommandType.OPEN_RISK_BUCKET, { ...bucket, pair, ...scene.signed('bot@ann') })
    return code === 0 ? [code] : [code, detail]
  }
  const lacks = (grant: number): unknown[] => [118, grant]
  const before = scene.digest()
  t.equal(scene.send(CommandType.OPEN_RISK_BUCKET, { ...bucket, pair: 0 })['code'], 113, 'SESSION_INVALID')
  t.equal(scene.digest(), before)
  t.same(opens(['bot', 'cancel'], 0), lacks(AgentGrant.ACTION))
  t.same(opens(['bot', 'create', 'pairs=0'], 1), lacks(AgentGrant.PAIR))
  t.same(opens(['bot', 'create', 'pairs=0'], 0, 1 << 24), lacks(AgentGrant.MARGIN_ACCOUNT))
  t.same(opens(['bot', 'create', 'pairs=0'], 200), [600, 0], 'no such pair')
  t.equal(scene.state.scalars[SCALAR.BUCKETS_LIVE], 0)
  t.same(opens(['bot', 'create', 'pairs=0'], 0), [0])
  t.same(opens(['bot', 'create', 'pairs=0'], -1), [0], 'a cross one is of no pair')
  t.equal(scene.state.scalars[SCALAR.BUCKETS_LIVE], 2)
})
