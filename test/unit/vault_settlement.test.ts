/**
 * Promise: batches are opened by number of trades or by time, posted once each in their order, and confirmed when the chain gives back the
 * very roots; what the chain says otherwise stops settlement and nothing else. The faucet's tokens are minted once.
 */
import t from 'tap'
import { encodeFunctionData, type Hex } from 'viem'
import { CommandType } from '../../core/layout/command.ts'
import { CLOCK } from '../../core/state/columns.ts'
import { faucetTxHash } from '../../core/view/vault.ts'
import { VAULT_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { Settlement, type SettlementParts } from '../../gateway/chain/vault/settlement.ts'
import { OPERATOR, USD, vaultStage, type VaultStage } from '../support/vault_stage.ts'

t.setTimeout(300_000)

const FLAGS = ['--settlement-trades', '5', '--settlement-seconds', '1']
/** So many trades, as the engine counts them. */
const trade = ({ state }: VaultStage, count: number): void => void (state.clock[CLOCK.FILLS]! += count)
const stateOf = ({ books }: VaultStage): [opened: number, confirmed: number] => {
  const { batch, confirmed } = books.settlement()
  return [batch, confirmed]
}
const postBatch = (through: number): Hex => encodeFunctionData({
  abi: VAULT_ABI, functionName: 'postBatch', args: [1n, BigInt(through), 1, `0x${'00'.repeat(32)}`, 1, `0x${'00'.repeat(32)}`],
})

t.test('by number, or by time with at least one trade', async (t) => {
  const stage = await vaultStage(t, {}, FLAGS)
  await stage.turns(2)
  t.same(stateOf(stage), [0, 0], 'no trade, no batch')
  trade(stage, 5)
  await stage.turns()
  t.equal(stateOf(stage)[0], 1, 'at once')
  trade(stage, 1)
  await stage.turns()
  t.equal(stateOf(stage)[0], 1, 'one trade waits for its time')
  stage.ahead += 1_000
  await stage.turns()
  t.equal(stateOf(stage)[0], 2, 'its time has come')
  await stage.until('its end', () => stateOf(stage)[1] === 2)
  const report = await stage.turns(3)
  t.same(stateOf(stage), [2, 2])
  t.match(report.settlement, { opened: 2, confirmed: 2, stopped: null, tradesRoot: `0x${'ab'.repeat(32)}` })
  t.same(stage.done(CommandType.CONFIRM_SETTLEMENT).map(({ batch }) => batch), [1, 2])
})

t.test('without roots nothing is posted; with too many batches open none is opened; all come in order', async (t) => {
  const stage = await vaultStage(t, {}, FLAGS)
  const { roots } = stage
  stage.roots = () => null
  for (let batch = 0; batch < 10; batch++) {
    trade(stage, 5)
    if (batch < 8) await stage.until('one more', () => stateOf(stage)[0] === batch + 1)
    else await stage.turns()
  }
  t.same(stateOf(stage), [8, 0])
  stage.roots = roots
  await stage.until('all', () => stateOf(stage)[1] >= 8)
  t.same(stage.done(CommandType.CONFIRM_SETTLEMENT).slice(0, 8).map(({ batch }) => batch), [1, 2, 3, 4, 5, 6, 7, 8])
})

t.test('cut off behind the transaction, and behind the command: posted and confirmed once', async (t) => {
  const stage = await vaultStage(t, {}, FLAGS)
  trade(stage, 5)
  const fates = ['lost', 'unheard', 'taken'] as const
  let at = 0
  stage.fate = (type) => (type === CommandType.CONFIRM_SETTLEMENT ? fates[at++ % fates.length]! : 'taken')
  for (let turn = 0; turn < 8; turn++) {
    await stage.turns()
    stage.restart()
  }
  t.same(stateOf(stage), [1, 1])
  t.equal(stage.done(CommandType.CONFIRM_SETTLEMENT).length, 1)
})

t.test('other roots on the chain stop settlement, and nothing else', async (t) => {
  const stage = await vaultStage(t, {}, FLAGS)
  const { places } = stage
  trade(stage, 5)
  stage.roots = () => null
  await stage.turns()
  const { through } = stage.books.settlement()
  await stage.call(OPERATOR, places.vault, postBatch(through))
  stage.roots = (_, last, fills) =>
    ({ through: last, trades: fills, tradesRoot: `0x${'ab'.repeat(32)}`, balances: 3, balancesRoot: `0x${'cd'.repeat(32)}` })
  const report = await stage.turns(3)
  t.match(report.settlement, { opened: 1, confirmed: 0, stopped: /another one/ })
  t.equal(stage.told.filter(({ message }) => message.startsWith('settlement stops')).length, 1)
  const ann = stage.owner(1)
  await stage.deposit(ann.wallet, 1_000_000n)
  await stage.turns()
  t.equal(stage.available(ann), 1000n)
})

t.test('a chain with batches of somebody else', async (t) => {
  const stage = await vaultStage(t, {}, FLAGS)
  await stage.call(OPERATOR, stage.places.vault, postBatch(1000))
  trade(stage, 5)
  const report = await stage.turns(2)
  t.match(report.settlement.stopped, /another one/)
  t.same(stateOf(stage)[1], 0)
})

t.test('the faucet: minted once for the vault, whatever is cut off, and every request has its transaction', async (t) => {
  const stage = await vaultStage(t)
  const [ann, bob] = [stage.owner(1), stage.owner(2)]
  const usd = stage.state.genesis.assets[USD]!
  stage.faucet(ann)
  const requested = stage.time
  const fates = ['lost', 'unheard', 'full', 'taken'] as const
  let at = 0
  stage.fate = (type) => (type === CommandType.FAUCET_MINTED ? fates[at++ % fates.length]! : 'taken')
  for (let turn = 0; turn < 6; turn++) {
    await stage.turns()
    stage.restart()
    if (turn === 2) stage.faucet(bob)
  }
  stage.fate = () => 'taken'
  await stage.until('the mints', () => stage.books.totals(usd).faucetOutstanding === 0n)
  t.equal(await stage.holds(stage.places.vault), 2_000_000_000_000n)
  t.equal(stage.books.totals(usd).minted, 2_000_000_000n)
  t.match(faucetTxHash(stage.state, USD, requested), /^0x[0-9a-f]{64}$/)
})

t.test('the fuller a chain of so many blocks is, the rarer batches are, however many trades there are', async (t) => {
  let [now, opened, room] = [0, 0, 1]
  const parts = {
    books: { settlement: () => ({ batch: opened, waiting: 1_000_000, open: [] }) },
    commands: { send: async () => (opened++, { code: 0 }) },
    clock: () => now, roomLeft: () => room, settlementMs: 12_000, settlementTrades: 5, tell: () => undefined,
  }
  const settlement = new Settlement(parts as unknown as SettlementParts)
  const openedBy = async (time: number): Promise<number> => {
    now = time
    await settlement.open()
    return opened
  }
  t.equal(await openedBy(0), 1, 'the first at once')
  t.equal(await openedBy(999), 1, 'not closer than a twelfth of the longest time')
  t.equal(await openedBy(1_000), 2)
  room = 0.01
  t.equal(await openedBy(100_000), 2, 'a hundredth is left: a hundred times as far apart')
  t.equal(await openedBy(101_000), 3)
})
