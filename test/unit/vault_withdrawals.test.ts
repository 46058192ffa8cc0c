/**
 * Promise: a withdrawal is authorised only when the vault can pay it, and ends as exactly one of paid and returned, whatever node, signer
 * and the way to the engine do meanwhile.
 */
import t from 'tap'
import { encodeFunctionData, type Hex } from 'viem'
import { CommandType } from '../../core/layout/command.ts'
import { WithdrawalStatus, WithdrawalStop } from '../../core/layout/vault.ts'
import { VAULT_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { GOLD, OPERATOR, USD, USD_TOKEN, vaultStage, type Owner, type VaultStage } from '../support/vault_stage.ts'

t.setTimeout(300_000)

const { PENDING, SIGNED, SUBMITTED } = WithdrawalStatus
type Named = ReturnType<VaultStage['withdraw']>

/** A stage, and somebody whose 1,000 USD of the faucet are in the vault. */
async function funded(flags: readonly string[] = []): Promise<{ stage: VaultStage; ann: Owner }> {
  const stage = await vaultStage(t, {}, flags)
  const ann = stage.owner(1)
  stage.faucet(ann)
  await stage.until('the mint', () => stage.books.totals(stage.state.genesis.assets[USD]!).faucetOutstanding === 0n)
  return { stage, ann }
}

const statusOf = (stage: VaultStage, { row, sequence }: Named): number => stage.books.withdrawal(row, sequence)?.status ?? 0

/** Submits it as its user would. */
async function submit(stage: VaultStage, owner: Owner, { row, sequence }: Named): Promise<Hex> {
  const calldata = await stage.calldata(row, sequence)
  if (typeof calldata === 'string') throw new Error(calldata)
  return stage.call(owner.wallet, calldata.to as Hex, calldata.data as Hex)
}

t.test('asked for, signed, submitted, paid: once', async (t) => {
  const { stage, ann } = await funded()
  const named = stage.withdraw(ann, 400_000_000n)
  t.equal(await stage.calldata(named.row, named.sequence), 'NOT_SIGNED')
  await stage.turns()
  t.equal(statusOf(stage, named), SIGNED)
  const { deadline } = stage.books.withdrawal(named.row, named.sequence)!
  t.ok(deadline % 1000 === 0 && deadline >= stage.time + 60_000 && deadline < stage.time + 62_000)
  const [first, again] = [await stage.calldata(named.row, named.sequence), await stage.calldata(named.row, named.sequence)]
  t.match(first, { chainId: 1328, to: stage.places.vault, value: '0', nonce: String(named.sequence), expiresAt: deadline })
  t.same(again, first, 'the same bytes')
  stage.restart()
  await stage.turns()
  t.same(await stage.calldata(named.row, named.sequence), first, 'by another thread as well')
  const hash = await submit(stage, ann, named)
  const report = await stage.turns(2)
  t.equal(statusOf(stage, named), 0, 'over')
  t.equal(stage.done(CommandType.ADVANCE_WITHDRAWAL).at(-1)!['txHash'], hash.slice(2))
  t.match(report, { confirmedWithdrawals: 1, withdrawals: { pending: 0, signed: 0, submitted: 0 } })
  t.match(report.solvency, [{ symbol: 'USD', deficit: '0' }, {}])
  t.equal(await stage.holds(ann.wallet.address), 400_000_000_000n)
  t.equal(stage.available(ann), 600_000_000n)
  await t.rejects(stage.call(ann.wallet, stage.places.vault, (first as { data: Hex }).data), 'the nonce is used')
})

t.test('unused until its deadline: returned, and never paid afterwards', async (t) => {
  const { stage, ann } = await funded()
  const named = stage.withdraw(ann, 400_000_000n)
  await stage.turns()
  const calldata = await stage.calldata(named.row, named.sequence)
  stage.pass(59_000)
  await stage.turns(2)
  t.equal(statusOf(stage, named), SIGNED, 'not before')
  stage.pass(5_000)
  t.equal(await stage.calldata(named.row, named.sequence), 'EXPIRED')
  await stage.until('the end', () => statusOf(stage, named) === 0)
  t.equal(stage.available(ann), 1_000_000_000n, 'by a block that the vault thread made itself')
  await t.rejects(stage.call(ann.wallet, stage.places.vault, (calldata as { data: Hex }).data))
})

t.test('paid in the last second: a look behind the deadline does not return it', async (t) => {
  const { stage, ann } = await funded()
  const named = stage.withdraw(ann, 400_000_000n)
  await stage.turns()
  await submit(stage, ann, named)
  stage.pass(70_000)
  // The node hides the log, and says of the nonce what is true.
  stage.node.change = async ({ method }, right) => (method === 'eth_getLogs' ? { result: [] } : right())
  await stage.turns(3)
  t.equal(statusOf(stage, named), SIGNED, 'neither')
  t.equal(stage.available(ann), 600_000_000n)
  stage.node.change = null
  await stage.until('the end', () => statusOf(stage, named) === 0)
  t.equal(stage.available(ann), 600_000_000n)
  t.equal(stage.books.totals(stage.state.genesis.assets[USD]!).withdrawn, 400_000_000n)
})

t.test('confirmations: SUBMITTED by a block that does not count yet, SIGNED again when it is gone', async (t) => {
  const { stage, ann } = await funded(['--chain-confirmations', '3'])
  const named = stage.withdraw(ann, 400_000_000n)
  await stage.until('the signature', () => statusOf(stage, named) === SIGNED)
  const before = stage.chain.devnet.blocks.length
  await submit(stage, ann, named)
  await stage.vault.turn()
  t.equal(statusOf(stage, named), SUBMITTED)
  await stage.vault.idle()
  await stage.chain.devnet.rewind(before - 1)
  await stage.vault.turn()
  t.equal(statusOf(stage, named), SIGNED, 'the chain took it back')
  t.equal(stage.available(ann), 600_000_000n)
  await submit(stage, ann, named)
  await stage.until('the end', () => statusOf(stage, named) === 0)
  t.equal(await stage.holds(ann.wallet.address), 400_000_000_000n)
})

t.test('what the hub has not is never paid', async (t) => {
  const { stage, ann } = await funded()
  stage.faucet(ann, GOLD)
  const named = stage.withdraw(ann, 100n, GOLD)
  await stage.turns()
  t.equal(statusOf(stage, named), 0)
  t.equal(stage.available(ann, GOLD), 500n)
})

t.test('what the vault has not yet is not authorised', async (t) => {
  const stage = await vaultStage(t)
  const ann = stage.owner(1)
  stage.signerAway = true
  stage.faucet(ann)
  const named = stage.withdraw(ann, 400_000_000n)
  await stage.turns(3)
  t.equal(statusOf(stage, named), PENDING, 'nobody could mint it')
  stage.signerAway = false
  stage.restart()
  await stage.until('the signature', () => statusOf(stage, named) === SIGNED)
  t.equal(await stage.holds(stage.places.vault), 1_000_000_000_000n)
})

t.test('paused, stopped, without a node: nothing is authorised, and what is signed is not handed out', async (t) => {
  const { stage, ann } = await funded()
  const pause = (functionName: 'pause' | 'unpause'): Promise<Hex> =>
    stage.call(OPERATOR, stage.places.vault, encodeFunctionData({ abi: VAULT_ABI, functionName }))
  await pause('pause')
  const [first, second] = [stage.withdraw(ann, 1_000_000n), stage.withdraw(ann, 2_000_000n)]
  t.match(await stage.turns(2), { paused: true, withdrawals: { pending: 2 } })
  await pause('unpause')
  stage.node.change = () => 'cut'
  const away = await stage.turns()
  t.equal(statusOf(stage, first), PENDING)
  t.match(away.chains[0], { connected: false })
  stage.node.change = null
  await stage.until('both', () => statusOf(stage, first) === SIGNED && statusOf(stage, second) === SIGNED)
  stage.command(CommandType.STOP_WITHDRAWALS, { cause: WithdrawalStop.OPERATOR })
  t.equal(await stage.calldata(first.row, first.sequence), 'STOPPED')
  stage.command(CommandType.STOP_WITHDRAWALS, { cause: WithdrawalStop.NONE })
  stage.signerAway = true
  t.equal(await stage.calldata(first.row, first.sequence), 'SIGNER')
  stage.signerAway = false
  t.match(await stage.calldata(first.row, first.sequence), { nonce: String(first.sequence) })
  t.equal(await stage.calldata(first.row, second.sequence), 'NOT_SIGNED', 'no such one')
})

t.test('of two of one turn that the vault can pay only singly one alone is signed', async (t) => {
  const { stage, ann } = await funded()
  const bob = stage.owner(2)
  // 1,000 USD of the faucet that nobody mints: the vault has what it must, and not what both ask for.
  stage.signerAway = true
  stage.faucet(bob)
  const [anns, bobs] = [stage.withdraw(ann, 600_000_000n), stage.withdraw(bob, 600_000_000n)]
  await stage.turns()
  t.same([statusOf(stage, anns), statusOf(stage, bobs)], [SIGNED, PENDING])
  await stage.turns(2)
  t.same([statusOf(stage, anns), statusOf(stage, bobs)], [SIGNED, PENDING], 'what is signed is not there for others')
  stage.signerAway = false
  await stage.until('the other', () => statusOf(stage, bobs) === SIGNED)
})

t.test('beyond the day nothing is asked of the engine: small ones go by, the oldest goes first when there is room', async (t) => {
  const { stage, ann } = await funded()
  const bob = stage.owner(2)
  stage.faucet(bob)
  stage.faucet(bob)
  await stage.until('the mint', () => stage.books.totals(stage.state.genesis.assets[USD]!).faucetOutstanding === 0n)
  const terms = { asset: USD, minimum: -1n, userDaily: -1n, approvalAbove: -1n }
  stage.command(CommandType.SET_WITHDRAWAL_TERMS, { ...terms, totalDaily: 1_000_000_000n })
  const large = [700_000_000n, 100_000_000n, 60_000_000n].map((amount) => stage.withdraw(bob, amount))
  const small = stage.withdraw(ann, 1_000_000n)
  const now = (): number[] => [...large, small].map((each) => statusOf(stage, each))
  await stage.turns()
  t.same(now(), [SIGNED, PENDING, PENDING, SIGNED])
  const asked = stage.applied.length
  await stage.turns(3)
  t.equal(stage.applied.slice(asked).filter(({ type }) => type === CommandType.ADVANCE_WITHDRAWAL).length, 0)
  t.equal(stage.applied.filter(({ type, answer }) => type === CommandType.ADVANCE_WITHDRAWAL && answer['code'] !== 0).length, 0)
  stage.command(CommandType.SET_WITHDRAWAL_TERMS, { ...terms, totalDaily: 1_070_000_000n })
  await stage.turns()
  t.same(now(), [SIGNED, SIGNED, PENDING, SIGNED])
})

t.test('one account does not fill the queue of signatures', async (t) => {
  const { stage, ann } = await funded()
  const bob = stage.owner(2)
  stage.faucet(bob)
  const [anns, bobs] = [stage.withdraw(ann, 1_000_000n), stage.withdraw(bob, 1_000_000n)]
  await stage.until('both', () => statusOf(stage, anns) === SIGNED && statusOf(stage, bobs) === SIGNED)
  const many = Array.from({ length: 20 }, () => stage.calldata(anns.row, anns.sequence))
  const his = stage.calldata(bobs.row, bobs.sequence)
  t.equal((await Promise.all(many)).filter((answer) => answer === 'BUSY').length, 16)
  t.match(await his, { nonce: String(bobs.sequence) })
})

t.test('a vault that has too little: withdrawals stop, once it is seen twice', async (t) => {
  const { stage, ann } = await funded()
  const named = stage.withdraw(ann, 1_000_000n)
  stage.node.change = async ({ method, params }, right) => {
    const reply = await right()
    const ofVault = method === 'eth_call' && params[0].to === USD_TOKEN && String(params[0].data).startsWith('0x70a08231')
    return ofVault ? { result: `0x${(999_000_000_000n).toString(16).padStart(64, '0')}` } : reply
  }
  await stage.turns()
  t.equal(stage.books.stopped(), WithdrawalStop.NONE)
  const report = await stage.turns()
  t.equal(stage.books.stopped(), WithdrawalStop.SOLVENCY)
  t.match(report.solvency[0], { holdings: '999000000000', liabilities: '1000000000000', deficit: '1000000000' })
  stage.node.change = null
  await stage.turns(3)
  t.equal(statusOf(stage, named), PENDING, 'until the operator allows them')
  stage.command(CommandType.STOP_WITHDRAWALS, { cause: WithdrawalStop.NONE })
  await stage.turns(2)
  t.equal(statusOf(stage, named), SIGNED)
})

t.test('answers that do not come, restarts at every turn: still one of paid and returned', async (t) => {
  const { stage, ann } = await funded()
  const [paid, returned] = [stage.withdraw(ann, 100_000_000n), stage.withdraw(ann, 200_000_000n)]
  const fates = ['lost', 'unheard', 'full', 'taken'] as const
  let at = 0
  stage.fate = () => fates[at++ % fates.length]!
  for (let turn = 0; turn < 8; turn++) {
    await stage.turns()
    stage.restart()
  }
  t.same([statusOf(stage, paid), statusOf(stage, returned)], [SIGNED, SIGNED])
  await stage.turns()
  await submit(stage, ann, paid)
  stage.pass(120_000)
  for (let turn = 0; turn < 16; turn++) {
    await stage.turns()
    stage.restart()
  }
  t.same([statusOf(stage, paid), statusOf(stage, returned)], [0, 0])
  t.equal(stage.available(ann), 900_000_000n)
  t.equal(await stage.holds(ann.wallet.address), 100_000_000_000n)
  t.equal(stage.books.totals(stage.state.genesis.assets[USD]!).locked, 0n)
})
