/**
 * Promise: what the vault thread hears of a node is what the chain says: a node that lags has nothing to say, and one that lies about
 * chains, blocks, logs, receipts or hashes is not believed, whatever it lies about.
 */
import t, { type Test } from 'tap'
import { encodeAbiParameters, encodeFunctionData, keccak256, toEventSelector } from 'viem'
import { parseGenesis } from '../../core/state/genesis.ts'
import { TOKEN_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { hubTokens } from '../../gateway/chain/vault/deploy.ts'
import { createChainNode } from '../../gateway/chain/vault/node.ts'
import { AHEAD_MS, RANGE_BLOCKS, SINGLE_BLOCKS } from '../../gateway/chain/vault/node_blocks.ts'
import type { ChainNode, Hex, LogQuery } from '../../gateway/chain/vault/types.ts'
import { newKey } from '../support/contracts.ts'
import { startDevnet, type DevnetNode } from '../support/devnet_node.ts'
import { startLyingNode, type Change, type LyingNode } from '../support/lying_node.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

t.setTimeout(240_000)

const GENESIS = parseGenesis(JSON.stringify(shippedGenesis()))
const { chainId } = GENESIS
const TOKEN = hubTokens(GENESIS, true)[0]!.address
const TRANSFER = toEventSelector('Transfer(address,address,uint256)')
const MINTED = toEventSelector('Minted(bytes32,address,uint256)')
const SENDER = newKey()
const HOLDER: Hex = `0x${'ab'.repeat(20)}`
const unavailable = { name: 'ChainUnavailable' }
const FREE = { chainId, type: 'eip1559', maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
const word = (value: bigint): Hex => encodeAbiParameters([{ type: 'uint256' }], [value])

interface Setup {
  readonly chain: DevnetNode
  readonly liar: LyingNode
  readonly node: ChainNode
  /** Unix ms, of the client. */
  clock: { now: number }
  nonce: number
  send(to: Hex, data: Hex): Promise<Hex>
  mint(id: number, amount: bigint): Promise<Hex>
}

/** A chain whose token the sender mints, and a client of a node in front of it. */
async function setUp(t: Test): Promise<Setup> {
  const chain = await startDevnet(t, GENESIS)
  const liar = await startLyingNode(t, chain.url)
  const clock = { now: Date.now() }
  const node = createChainNode({ chainId, url: liar.url, timeoutMs: 10_000, now: () => clock.now })
  const direct = createChainNode({ chainId, url: chain.url, timeoutMs: 10_000, now: Date.now })
  const setting: Setup = {
    chain, liar, node, clock, nonce: 0,
    send: async (to, data) => direct.send(await SENDER.signTransaction({ ...FREE, nonce: setting.nonce++, gas: 500_000n, to, data })),
    mint: (id, amount) =>
      setting.send(TOKEN, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [word(BigInt(id)), HOLDER, amount] })),
  }
  await setting.send(TOKEN, encodeFunctionData({ abi: TOKEN_ABI, functionName: 'initialize', args: ['T', 'T', 6, SENDER.address] }))
  return setting
}

const queryOf = async (node: ChainNode, from: number, topics: LogQuery['topics'] = [TRANSFER]): Promise<LogQuery> =>
  ({ from, to: await node.head(), addresses: [TOKEN], topics })

/** Changes the result of one method. */
const lie = (method: string, change: (result: any, params: readonly any[]) => unknown): Change => async (call, right) => {
  const reply = await right()
  return call.method !== method || 'error' in reply ? reply : { result: change(reply.result, call.params) }
}

t.test('blocks, state and transactions are read', async (t) => {
  const { chain, node, mint, liar } = await setUp(t)
  const before = await node.head()
  const hash = await mint(1, 70n)
  const head = await node.head()
  t.match(head, { number: before.number + 1, parentHash: before.hash, time: chain.time * 1000 })
  t.same(await node.block(before.number), before)
  t.equal(await node.block(head.number + 1), null)
  t.equal(await node.balanceOf(TOKEN, HOLDER), 70n)
  t.equal(await node.balanceOf(TOKEN, HOLDER, before), 0n, 'at a block')
  const found = { txHash: hash, block: head.number, blockHash: head.hash, succeeded: true, to: TOKEN, logs: { length: 2 } }
  t.match(await node.receipt(hash), found)
  t.equal(await node.receipt(`0x${'00'.repeat(32)}`), null)
  t.same([await node.knows(hash), await node.knows(`0x${'00'.repeat(32)}`)], [true, false])
  t.same(await node.nonce(SENDER.address), { mined: 2, pending: 2 })
  t.same(await node.fees(), { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n })
  t.equal(await node.code(HOLDER), '0x')
  t.ok((await node.code(TOKEN)).length > 100)
  const mintAgain = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [word(2n), HOLDER, 1n] })
  t.equal(await node.estimateGas(HOLDER, TOKEN, mintAgain), null, 'a revert')
  t.equal(await node.call(TOKEN, '0xffffffff'), null)
  t.ok((await node.estimateGas(SENDER.address, TOKEN, mintAgain))! > 21_000n)
  t.equal(liar.calls.filter(({ method }) => method === 'eth_chainId').length, 1, 'the chain is asked for its id once')
})

t.test('logs, block by block and in long ranges', async (t) => {
  const { node, mint, liar } = await setUp(t)
  const first = (await node.head()).number + 1
  for (let i = 0; i < SINGLE_BLOCKS + 4; i++) await mint(i, BigInt(i))
  liar.calls.length = 0
  const all = await node.logs(await queryOf(node, first))
  t.same(all.map(({ data }) => BigInt(data)), Array.from({ length: SINGLE_BLOCKS + 4 }, (_, i) => BigInt(i)))
  t.same(all.map(({ block }) => block), all.map((_, i) => first + i))
  t.ok(all.every(({ address, logIndex }) => address === TOKEN && logIndex === 1))
  const ranges = (): number => liar.calls.filter(({ method, params }) => method === 'eth_getLogs' && 'fromBlock' in params[0]).length
  t.equal(ranges(), 1)
  const few = await node.logs(await queryOf(node, first + 10))
  t.same(few, all.slice(10))
  t.equal(ranges(), 1, 'few blocks are asked by their hashes')
  const both = await node.logs(await queryOf(node, first + 10, [[TRANSFER, MINTED]]))
  t.same(both.map(({ logIndex }) => logIndex), few.flatMap(() => [0, 1]))
  t.same(await node.logs({ ...(await queryOf(node, first)), addresses: [HOLDER] }), [])
  const { number } = await node.head()
  t.same(await node.logs(await queryOf(node, number + 1)), [], 'an empty range')
  // A node that gives few logs at once.
  liar.change = async ({ method, params }, right) => {
    const span = method === 'eth_getLogs' && 'fromBlock' in params[0] ? Number(params[0].toBlock) - Number(params[0].fromBlock) : 0
    return span > 2 ? { error: { code: -32005, message: 'too many' } } : right()
  }
  t.same(await node.logs(await queryOf(node, first)), all)
  t.ok(RANGE_BLOCKS <= 10_000)
})

t.test('another chain, now or later', async (t) => {
  const { node, liar, clock } = await setUp(t)
  const other = lie('eth_chainId', () => '0x1')
  liar.change = other
  await t.rejects(node.head(), { name: 'ChainUnavailable', message: 'another chain' })
  t.same(liar.calls.map(({ method }) => method), ['eth_chainId'], 'nothing else is asked')
  liar.change = null
  await node.head()
  liar.change = other
  await node.head()
  clock.now += 60_000
  await t.rejects(node.head(), { message: 'another chain' }, 'after a minute')
  liar.change = null
  await node.head()
  liar.change = () => 'cut'
  await t.rejects(node.head(), unavailable)
  liar.change = other
  await t.rejects(node.head(), { message: 'another chain' }, 'after a failure')
  liar.change = null
  await node.head()
  node.move(null)
  await t.rejects(node.head(), { message: 'the chain is away' })
  node.move(liar.url)
  t.ok(await node.head())
})

t.test('a node that lags has nothing to say', async (t) => {
  const { node, mint, liar, chain } = await setUp(t)
  const first = (await node.head()).number + 1
  for (let i = 0; i < SINGLE_BLOCKS + 4; i++) await mint(i, 5n)
  const [long, short] = [await queryOf(node, first), await queryOf(node, first + 15)]
  const behind = chain.devnet.blocks.length - 3
  liar.change = async ({ method, params }, right) => {
    if (method === 'eth_getBlockByNumber' && Number(params[0]) > behind) return { result: null }
    if (method === 'eth_getLogs' && 'blockHash' in params[0] && chain.devnet.find({ hash: params[0].blockHash })!.number > behind) {
      return { error: { code: -32000, message: 'unknown block' } }
    }
    if (method === 'eth_getLogs' && 'fromBlock' in params[0]) {
      const reply = (await right()) as { result: any[] }
      return { result: reply.result.filter(({ blockNumber }) => Number(blockNumber) <= behind) }
    }
    return right()
  }
  await t.rejects(node.logs(long), unavailable)
  await t.rejects(node.logs(short), unavailable)
  const at = await node.block(behind)
  t.ok(await node.logs({ ...long, to: at! }), 'of what it has it may speak')
  await t.rejects(node.receipt(chain.devnet.blocks.at(-1)!.done!.hash), unavailable)
  liar.change = lie('eth_getBlockByNumber', (block, [number]) => (number === 'latest' ? { ...block, ...recordOf(chain, behind) } : block))
  t.equal((await node.head()).number, behind, 'its head may be an older one')
})

const recordOf = ({ devnet }: DevnetNode, number: number): object => devnet.blocks[number]!.header

t.test('a reorganisation while it is read', async (t) => {
  const { node, mint, chain } = await setUp(t)
  const first = (await node.head()).number + 1
  for (let i = 0; i < SINGLE_BLOCKS + 4; i++) await mint(i, 5n)
  const [long, short] = [await queryOf(node, first), await queryOf(node, first + 15)]
  await chain.devnet.rewind(first + 16)
  await t.rejects(node.logs(long), unavailable)
  await t.rejects(node.logs(short), unavailable)
  await t.rejects(node.balanceOf(TOKEN, HOLDER, long.to), unavailable)
})

t.test('logs that are lies', async (t) => {
  const { node, mint, liar } = await setUp(t)
  const first = (await node.head()).number + 1
  for (let i = 0; i < SINGLE_BLOCKS + 4; i++) await mint(i, 5n)
  const other = `0x${'cd'.repeat(32)}`
  const lies: [string, (logs: any[]) => unknown][] = [
    ['of another address', (logs) => [{ ...logs[0], address: HOLDER }, ...logs.slice(1)]],
    ['of another topic', (logs) => [{ ...logs[0], topics: [other] }, ...logs.slice(1)]],
    ['of no topic', (logs) => [{ ...logs[0], topics: [] }, ...logs.slice(1)]],
    ['of another block', (logs) => [{ ...logs[0], blockHash: other }, ...logs.slice(1)]],
    ['of a number outside', (logs) => [{ ...logs[0], blockNumber: '0x0' }, ...logs.slice(1)]],
    ['twice', (logs) => [logs[0], ...logs]],
    ['removed ones', (logs) => [{ ...logs[0], removed: true }, ...logs.slice(1)]],
    ['without a transaction', (logs) => [{ ...logs[0], transactionHash: null }, ...logs.slice(1)]],
    ['pending ones', (logs) => [{ ...logs[0], blockHash: null, blockNumber: null }, ...logs.slice(1)]],
    ['half a byte', (logs) => [{ ...logs[0], data: '0x1' }, ...logs.slice(1)]],
    ['no list', () => ({})],
    ['nothing', () => null],
  ]
  const [long, short] = [await queryOf(node, first), await queryOf(node, first + 15)]
  for (const [what, change] of lies) {
    // A block without any is left as it is.
    liar.change = lie('eth_getLogs', (logs: any[]) => (logs.length === 0 ? logs : change(logs)))
    await t.rejects(node.logs(long), unavailable, `${what}, in a range`)
    await t.rejects(node.logs(short), unavailable, `${what}, of a block`)
  }
  liar.change = lie('eth_getLogs', (logs: any[]) => [...logs].reverse())
  t.same((await node.logs(long)).map(({ block }) => block), Array.from({ length: SINGLE_BLOCKS + 4 }, (_, i) => first + i), 'their order')
})

t.test('blocks and receipts that are lies', async (t) => {
  const { node, mint, liar, clock } = await setUp(t)
  const hash = await mint(1, 5n)
  const other = `0x${'cd'.repeat(32)}`
  for (const [what, change] of [
    ['another number', { number: '0x0' }], ['no hash', { hash: null }], ['no number', { number: null }], ['no time', { timestamp: 'x' }],
    ['no parent', { parentHash: '0x12' }], ['the future', { timestamp: `0x${Math.floor((clock.now + 2 * AHEAD_MS) / 1000).toString(16)}` }],
  ] as const) {
    liar.change = lie('eth_getBlockByNumber', (block) => ({ ...block, ...change }))
    await t.rejects(node.block(2), unavailable, what)
  }
  for (const [what, change] of [
    ['another transaction', { transactionHash: other }], ['another block', { blockHash: other }],
    ['another number', { blockNumber: '0x1' }], ['a third status', { status: '0x2' }],
    ['no status', { status: null }], ['no logs', { logs: null }], ['in no block', { blockHash: null }],
  ] as const) {
    liar.change = lie('eth_getTransactionReceipt', (receipt) => ({ ...receipt, ...change }))
    await t.rejects(node.receipt(hash), unavailable, what)
  }
  liar.change = lie('eth_getTransactionReceipt', (receipt) =>
    ({ ...receipt, logs: receipt.logs.map((log: object) => ({ ...log, transactionHash: other })) }))
  await t.rejects(node.receipt(hash), unavailable, 'logs of others')
  liar.change = lie('eth_sendRawTransaction', () => other)
  const raw = await SENDER.signTransaction({ ...FREE, nonce: 2, gas: 21_000n, to: HOLDER })
  await t.rejects(node.send(raw), { message: 'the hash of another transaction' })
  liar.change = lie('eth_call', () => '0x02')
  await t.rejects(node.balanceOf(TOKEN, HOLDER), unavailable, 'no word')
  liar.change = () => ({ result: word(2n) })
  await t.rejects(node.isNonceUsed(TOKEN, 1n), { message: 'neither used nor unused' })
})

t.test('a transaction that is there already was sent; one that is refused says why', async (t) => {
  const { node, liar } = await setUp(t)
  const raw = await SENDER.signTransaction({ ...FREE, nonce: 1, gas: 21_000n, to: HOLDER })
  const hash = await node.send(raw)
  t.equal(hash, keccak256(raw))
  t.equal(await node.send(raw), hash)
  const old = await SENDER.signTransaction({ ...FREE, nonce: 0, gas: 21_000n, to: HOLDER })
  await t.rejects(node.send(old), { name: 'SendRefused', message: /^nonce too low/ })
  liar.change = () => ({ error: { code: -32603, message: 'internal' } })
  await t.rejects(node.send(old), unavailable)
})

t.test('nodes without EIP-1898 are asked by number, and then whether it still is that block', async (t) => {
  const { node, mint, liar, chain } = await setUp(t)
  await mint(1, 5n)
  const at = await node.head()
  await mint(2, 5n)
  liar.change = ({ method, params }, right) =>
    method === 'eth_call' && typeof params[1] === 'object' ? { error: { code: -32602, message: 'invalid argument 1' } } : right()
  t.equal(await node.balanceOf(TOKEN, HOLDER, at), 5n)
  liar.calls.length = 0
  t.equal(await node.balanceOf(TOKEN, HOLDER, at), 5n)
  t.same(liar.calls.map(({ method }) => method), ['eth_call', 'eth_getBlockByNumber'], 'it is known by now')
  await chain.devnet.rewind(at.number - 1)
  await t.rejects(node.balanceOf(TOKEN, HOLDER, at), unavailable)
})

t.test('silence and closed connections end in time', async (t) => {
  const { node, liar, clock } = await setUp(t)
  await node.head()
  const impatient = createChainNode({ chainId, url: liar.url, timeoutMs: 300, now: () => clock.now })
  liar.change = ({ method }, right) => (method === 'eth_chainId' ? right() : null)
  await t.rejects(impatient.head(), unavailable)
  let cut = 0
  liar.change = (_call, right) => (cut++ === 0 ? 'cut' : right())
  t.ok(await node.head(), 'once it is tried again')
  liar.change = () => 'cut'
  liar.calls.length = 0
  await t.rejects(node.head(), unavailable)
  t.equal(liar.calls.length, 2)
})
