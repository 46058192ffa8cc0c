/**
 * Promise: what comes to the vault is credited once, in order, to whom it is for; what cannot be said of the chain is not decided.
 */
import t from 'tap'
import type { Hex } from 'viem'
import { CommandType } from '../../core/layout/command.ts'
import { WithdrawalStop } from '../../core/layout/vault.ts'
import { applicationBytes, DEFAULT_APPLICATION, depositAddresses } from '../../gateway/chain/vault/deposit_address.ts'
import { USD, vaultStage, walletOf } from '../support/vault_stage.ts'

t.setTimeout(300_000)

t.test('a deposit is credited in atoms; what is less than one stays', async (t) => {
  const stage = await vaultStage(t)
  const ann = stage.owner(1)
  await stage.deposit(ann.wallet, 5_000_000_123n)
  const report = await stage.turns()
  t.equal(stage.available(ann), 5_000_000n)
  t.equal(stage.done(CommandType.CREDIT_DEPOSIT)[0]!['remainder'], 123n)
  t.match(report, { depositsCredited: 1, suspense: 0, chains: [{ connected: true, lag: 0, reorganised: false }] })
  await stage.turns(3)
  t.equal(stage.done(CommandType.CREDIT_DEPOSIT).length, 1, 'once')
})

t.test('many deposits in one turn, in order, whoever they are for', async (t) => {
  const stage = await vaultStage(t)
  const [ann, bob] = [stage.owner(1), stage.owner(2)]
  for (let each = 1; each <= 8; each++) await stage.deposit(each % 2 === 0 ? ann.wallet : bob.wallet, BigInt(each) * 1000n)
  await stage.turns()
  t.same([stage.available(ann), stage.available(bob)], [20n, 16n])
  t.same(stage.done(CommandType.CREDIT_DEPOSIT).map(({ amount }) => amount), [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n])
})

t.test('commands without room, lost or without an answer: nothing is lost and nothing is credited twice', async (t) => {
  const stage = await vaultStage(t)
  const ann = stage.owner(1)
  const fates = ['full', 'lost', 'unheard', 'taken', 'unheard', 'full', 'taken', 'lost'] as const
  let at = 0
  stage.fate = () => fates[at++ % fates.length]!
  for (let each = 1; each <= 7; each++) await stage.deposit(ann.wallet, BigInt(each) * 1000n)
  for (let turn = 0; turn < 40; turn++) {
    await stage.turns()
    if (turn % 7 === 3) stage.restart()
  }
  stage.fate = () => 'taken'
  await stage.turns(3)
  t.equal(stage.available(ann), 28n)
  t.equal(stage.books.totals(stage.state.genesis.assets[USD]!).deposited, 28n)
})

t.test('a beneficiary who signs in later gets what waited for him; another application is another account', async (t) => {
  const stage = await vaultStage(t)
  const bob = walletOf(7)
  const two = applicationBytes(stage.state.genesis.applications[1]!.id)
  await stage.deposit(bob, 1_000_000n)
  await stage.deposit(bob, 2_000_000n, bob.address, two)
  await stage.deposit(bob, 3_000_000n, bob.address, `0x${'99'.repeat(16)}`)
  t.match(await stage.turns(2), { suspense: 3, suspenseAssigned: 0 })
  const owner = stage.owner(7)
  await stage.turns(2)
  t.equal(stage.available(owner), 1000n, 'his own of the default application')
  const other = stage.owner(7, 1)
  const report = await stage.turns(2)
  t.equal(stage.available(other), 2000n)
  t.match(report, { suspense: 1, suspenseAssigned: 2 }, 'the last one is of no application')
})

t.test('a chain whose cursor is gone: nothing is taken until the operator rewinds', async (t) => {
  const stage = await vaultStage(t)
  const ann = stage.owner(1)
  await stage.deposit(ann.wallet, 1_000_000n)
  await stage.turns()
  const before = stage.books.cursors()[0]!
  // The node has another block where the journal has this one.
  const wrong = `0x${'ee'.repeat(32)}`
  stage.node.change = async ({ method, params }, right) => {
    const reply = await right()
    const isIt = method === 'eth_getBlockByNumber' && Number(params[0]) === before.block
    if (isIt && 'result' in reply) reply.result = { ...reply.result, hash: wrong }
    return reply
  }
  await stage.deposit(ann.wallet, 2_000_000n)
  t.match(await stage.turns(2), { chains: [{ reorganised: true }] })
  t.equal(stage.available(ann), 1000n)
  t.equal(stage.told.filter(({ message }) => message.includes('reorganised')).length, 1, 'said once')
  const { hash, number } = stage.chain.devnet.blocks[before.block - 1]!
  const rewind = { chain: 0, rewind: 1, chainId: 1328, block: Number(number), blockTime: before.blockTime, blockHash: hash.slice(2) }
  t.equal(stage.command(CommandType.ADVANCE_CHAIN, rewind)['code'], 0)
  stage.node.change = null
  t.match(await stage.turns(2), { chains: [{ reorganised: false }] })
  t.equal(stage.available(ann), 3000n, 'the one that was credited before is known')
})

t.test('a crash between a deposit and the cursor, and another chain after it: not taken twice, and none is passed by', async (t) => {
  const stage = await vaultStage(t)
  const [ann, bob] = [stage.owner(1), stage.owner(2)]
  await stage.turns()
  await stage.deposit(ann.wallet, 1_000_000n)
  stage.fate = (type) => (type === CommandType.ADVANCE_CHAIN ? 'lost' : 'taken')
  await stage.turns()
  t.equal(stage.available(ann), 1000n)
  const { block, depositBlock, blockTime, blockHash } = stage.books.cursors()[0]!
  t.ok(depositBlock > block, 'it is behind the cursor')
  // While the exchange is down the same block becomes another one, in which a log comes before this one.
  await stage.deposit(bob.wallet, 2_000_000n)
  stage.fate = () => 'taken'
  stage.restart()
  stage.node.change = async ({ method }, right) => {
    const reply = await right()
    if (method !== 'eth_getLogs' || !('result' in reply)) return reply
    for (const log of reply.result) {
      if (Number(log.blockNumber) === depositBlock) log.logIndex = `0x${(Number(log.logIndex) + 1).toString(16)}`
    }
    return reply
  }
  t.match(await stage.turns(3), { chains: [{ reorganised: true }] })
  t.same([stage.available(ann), stage.available(bob)], [1000n, 0n], 'nothing of the chain is taken')
  const rewind = { chain: 0, rewind: 1, chainId: 1328, block, blockTime, blockHash: blockHash.slice(2) }
  t.equal(stage.command(CommandType.ADVANCE_CHAIN, rewind)['code'], 0, 'the operator goes back to the cursor itself')
  t.match(await stage.turns(3), { chains: [{ reorganised: false }] })
  t.same([stage.available(ann), stage.available(bob)], [1000n, 2000n])
})

t.test('a reorganisation behind the confirmations takes a deposit away: withdrawals stop', async (t) => {
  const stage = await vaultStage(t)
  const { devnet } = stage.chain
  const ann = stage.owner(1)
  const before = devnet.blocks.length
  await stage.deposit(ann.wallet, 1_000_000n)
  await stage.turns()
  t.equal(stage.available(ann), 1000n)
  const { block } = stage.books.cursors()[0]!
  await devnet.rewind(before - 1)
  t.match(await stage.turns(), { chains: [{ reorganised: false, cursor: block }] }, 'the node may only be late')
  while (devnet.blocks.length <= block) await stage.give(walletOf(9).address, 5n)
  t.match(await stage.turns(), { chains: [{ reorganised: true }] })
  const { hash } = devnet.blocks[before - 1]!
  const rewind = { chain: 0, rewind: 1, chainId: 1328, block: before - 1, blockTime: stage.time, blockHash: hash.slice(2) }
  t.equal(stage.command(CommandType.ADVANCE_CHAIN, rewind)['code'], 0)
  stage.restart()
  await stage.turns(3)
  t.equal(stage.available(ann), 1000n, 'what was credited stays')
  t.equal(stage.books.stopped(), WithdrawalStop.SOLVENCY, 'and is missing in the vault')
})

t.test('faults of the node: what is not sure is not decided, and the next turn goes on', async (t) => {
  const stage = await vaultStage(t)
  const ann = stage.owner(1)
  await stage.deposit(ann.wallet, 1_000_000n)
  const changes: [string, NonNullable<typeof stage.node.change>][] = [
    ['silent', () => null],
    ['cut', () => 'cut'],
    ['another chain', async ({ method }, right) => (method === 'eth_chainId' ? { result: '0x1' } : right())],
    ['no head', async ({ method }, right) => (method === 'eth_getBlockByNumber' ? { result: null } : right())],
    ['errors', () => ({ error: { code: -32000, message: 'header not found' } })],
    ['logs of another block', async ({ method }, right) => {
      const reply = await right()
      if (method === 'eth_getLogs' && 'result' in reply) for (const log of reply.result) log.blockHash = `0x${'11'.repeat(32)}`
      return reply
    }],
  ]
  for (const [name, change] of changes) {
    stage.restart()
    stage.node.change = change
    await stage.turns()
    t.equal(stage.available(ann), 0n, name)
  }
  stage.node.change = null
  stage.restart()
  await stage.turns(3)
  t.equal(stage.available(ann), 1000n)
})

t.test('a node that lags behind the cursor is waited for', async (t) => {
  const stage = await vaultStage(t)
  const ann = stage.owner(1)
  await stage.deposit(ann.wallet, 1_000_000n)
  await stage.turns()
  const { block } = stage.books.cursors()[0]!
  stage.node.change = async ({ method, params }, right) => {
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return right()
    const older = stage.chain.devnet.blocks[block - 2]!
    return fetch(stage.chain.url, {
      method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [`0x${Number(older.number).toString(16)}`, false] }),
    }).then(async (response) => (await response.json()) as { result: unknown })
  }
  const report = await stage.turns(2)
  t.match(report.chains[0], { reorganised: false, cursor: block })
  t.ok(report.chains[0]!.head < block)
  t.equal(stage.books.cursors()[0]!.block, block)
})

t.test('tokens that go to a deposit address are swept and credited', async (t) => {
  const stage = await vaultStage(t)
  const ann = stage.owner(1)
  const address = depositAddresses(stage.places.factory)(ann.wallet.address.toLowerCase() as Hex, DEFAULT_APPLICATION)
  await stage.turns()
  await stage.give(address, 999n)
  await stage.turns(3)
  t.equal(await stage.holds(address), 999n, 'less than is worth it')
  await stage.give(address, 2_000_001n)
  await stage.until('the sweep', async () => stage.available(ann) > 0n)
  t.equal(await stage.holds(address), 0n)
  t.equal(stage.available(ann), 2001n)
  t.equal((await stage.turns()).sweeps, 1)
})

t.test('a sweep whose block the chain takes back is made again', async (t) => {
  const stage = await vaultStage(t, {}, ['--chain-confirmations', '3'])
  const { devnet } = stage.chain
  const ann = stage.owner(1)
  const address = depositAddresses(stage.places.factory)(ann.wallet.address.toLowerCase() as Hex, DEFAULT_APPLICATION)
  const blocks = async (count: number): Promise<void> => {
    for (let block = 0; block < count; block++) await stage.give(walletOf(9).address, 5n)
  }
  await stage.give(address, 2_000_000n)
  await blocks(3)
  await stage.until('the sweep', async () => (await stage.holds(address)) === 0n)
  t.equal(stage.available(ann), 0n, 'its block does not count yet')
  await devnet.rewind(devnet.blocks.length - 2)
  t.equal(await stage.holds(address), 2_000_000n, 'the chain has another block in its place')
  await blocks(4)
  await stage.until('another sweep', async () => (await stage.holds(address)) === 0n)
  await blocks(3)
  await stage.until('the deposit', () => stage.available(ann) > 0n)
  t.equal(stage.available(ann), 2000n, 'once')
  await blocks(3)
  t.equal((await stage.turns(3)).sweeps, 2, 'and no more when its block counts')
})
