/**
 * Promise: the embedded chain does what tools expect of a node: contracts are deployed, called and read with viem, reverts and exceptions
 * say what they are, every request is bounded, and after a restart the same blocks are there.
 */
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Server } from 'node:http'
import Database from 'better-sqlite3'
import { genTransactionsTrieRoot } from '@ethereumjs/block'
import { createTxFromRLP } from '@ethereumjs/tx'
import t, { type Test } from 'tap'
import { getContractAddress, parseEventLogs, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  BLOCK_GAS_LIMIT, chainRules, openDevnet, rootOfOne, KEPT_BYTES_MAX, TRANSACTION_GAS_LIMIT, WORK_MS_MAX, type Devnet,
} from '../../gateway/chain/devnet.ts'
import { commonOf } from '../../gateway/chain/machine.ts'
import { BATCH_MAX, BODY_BYTES_MAX, createRpcServer } from '../../gateway/chain/rpc_server.ts'
import { ChainDamaged, chainPath, openChainStore, type ChainStore } from '../../gateway/chain/store.ts'
import { contracts, deploy, deployData, newKey, publicClient, walletClient } from '../support/contracts.ts'
import { removeDirectory } from '../support/exchange.ts'

const CHAIN_ID = 1328

interface Node {
  readonly url: string
  readonly devnet: Devnet
  readonly errors: Error[]
  time: number
  close(): Promise<void>
}

/** A node over the chain in this directory, at a time that the test sets. */
async function startNode(directory: string, time = 1_800_000_000): Promise<Node> {
  const store: ChainStore = openChainStore(chainPath(directory), CHAIN_ID, chainRules)
  const clock = { time }
  const devnet = await openDevnet(CHAIN_ID, store, () => clock.time)
  const errors: Error[] = []
  const server: Server = createRpcServer(Promise.resolve(devnet), (error) => errors.push(error))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    store.close()
  }
  return Object.assign(clock, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, devnet, errors, close })
}

function newDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-chain-'))
  t.teardown(() => removeDirectory(directory))
  return directory
}

async function nodeOf(t: Test): Promise<Node> {
  const node = await startNode(newDirectory(t))
  t.teardown(async () => {
    await node.close()
    if (node.errors.length > 0) throw node.errors[0]!
  })
  return node
}

const JSON_TYPE: Record<string, string> = { 'Content-Type': 'application/json' }

async function post(url: string, body: string, headers = JSON_TYPE): Promise<Response> {
  return fetch(url, { method: 'POST', headers, body })
}

/** The reply to one call, as it is. */
async function rpc(
  url: string, method: string, ...params: unknown[]
): Promise<{ result?: any; error?: { code: number; message: string; data?: string } }> {
  return (await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))).json() as Promise<{ result?: any }>
}

t.test('a contract is deployed, called, written to and read with viem', async (t) => {
  const node = await nodeOf(t)
  const [client, account] = [publicClient(node.url), newKey()]
  const wallet = walletClient(node.url, account)
  t.equal(await client.getChainId(), CHAIN_ID)
  t.equal(await client.getBlockNumber(), 0n)
  t.equal(await client.getGasPrice(), 0n)
  t.equal(await client.getBalance({ address: account.address }), 0n)
  const { abi, bytecode } = contracts().OwnedWallet
  const hash = await wallet.deployContract({ abi, bytecode, args: [account.address] })
  const receipt = await client.waitForTransactionReceipt({ hash })
  const address = getContractAddress({ from: account.address, nonce: 0n })
  t.match(receipt, { status: 'success', blockNumber: 1n, logs: [] })
  t.match(receipt, { contractAddress: address.toLowerCase(), from: account.address.toLowerCase() })
  t.ok((await client.getCode({ address }))!.length > 100)
  const digest = `0x${'ab'.repeat(32)}` as Hex
  const signature = await account.sign({ hash: digest })
  const read = { address, abi, functionName: 'isValidSignature' } as const
  t.equal(await client.readContract({ ...read, args: [digest, signature] }), '0x1626ba7e')
  t.equal(await client.readContract({ ...read, args: [`0x${'cd'.repeat(32)}`, signature] }), '0xffffffff')

  const noted = await client.waitForTransactionReceipt({
    hash: await wallet.writeContract({ address, abi, functionName: 'note', args: [42n] }),
  })
  t.match(parseEventLogs({ abi, logs: noted.logs }), [{ eventName: 'Called', args: { by: account.address, value: 42n } }])
  const logs = await client.getContractEvents({ address, abi, eventName: 'Called', args: { by: account.address }, fromBlock: 0n })
  t.match(logs, [{ blockNumber: 2n, transactionHash: noted.transactionHash, args: { value: 42n } }])
  t.same(await client.getContractEvents({ address, abi, args: { by: newKey().address }, eventName: 'Called', fromBlock: 0n }), [])
  t.same(await client.getLogs({ address: newKey().address, fromBlock: 0n }), [])

  const block = await client.getBlock({ includeTransactions: true })
  t.match(block, { number: 2n, gasLimit: BLOCK_GAS_LIMIT, baseFeePerGas: 0n, timestamp: 1_800_000_000n, gasUsed: noted.gasUsed })
  t.match(block.transactions, [{ hash: noted.transactionHash, from: account.address.toLowerCase(), nonce: 1, type: 'eip1559' }])
  t.match(await client.getTransaction({ hash }), { blockNumber: 1n, to: null, input: deployData('OwnedWallet', [account.address]) })
  t.equal((await client.getBlock({ blockHash: block.hash })).parentHash, (await client.getBlock({ blockNumber: 1n })).hash)
  t.equal(await client.getTransactionCount({ address: account.address }), 2)
  t.equal(await client.getTransactionCount({ address: account.address, blockNumber: 1n }), 1, 'states of before are kept')
  t.notOk(await client.getCode({ address, blockNumber: 0n }))
  t.equal((await client.getFeeHistory({ blockCount: 2, rewardPercentiles: [50] })).baseFeePerGas.length, 3)
})

t.test('reverts, exceptions and refused transactions say what they are', async (t) => {
  const { url } = await nodeOf(t)
  const [reverting, endless, invalid] = [
    await deploy(url, 'RevertingWallet'), await deploy(url, 'EndlessWallet'), await deploy(url, 'InvalidWallet'),
  ]
  const reverted = (await rpc(url, 'eth_call', { to: reverting }, 'latest')).error!
  t.match(reverted, { code: 3, message: 'execution reverted: not today' })
  t.match(reverted.data, /^0x08c379a0/)
  t.match((await rpc(url, 'eth_call', { to: endless, gas: '0xf4240' }, 'latest')).error, { code: -32000, message: 'out of gas' })
  t.match((await rpc(url, 'eth_call', { to: invalid }, 'latest')).error, { code: -32000, message: 'invalid opcode' })
  t.match((await rpc(url, 'eth_estimateGas', { to: reverting })).error, { code: 3 })
  t.match((await rpc(url, 'eth_call', { to: reverting }, '0xffff')).error, { message: 'header not found' })

  const account = newKey()
  const free = { chainId: CHAIN_ID, type: 'eip1559', maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const
  const base = { ...free, nonce: 0, gas: 100_000n, to: reverting }
  const refused: [string, object, RegExp][] = [
    ['a nonce ahead', { nonce: 1 }, /^nonce too high/],
    ['a price', { maxFeePerGas: 1n }, /^insufficient funds/],
    ['a value', { value: 1n }, /^insufficient funds/],
    ['too little gas', { gas: 20_000n }, /^intrinsic gas too low/],
    ['too much gas', { gas: TRANSACTION_GAS_LIMIT + 1n }, /gas limit too high/],
    ['another chain', { chainId: 1 }, /^invalid chain id/],
  ]
  for (const [what, over, message] of refused) {
    const raw = await account.signTransaction({ ...base, ...over })
    t.match((await rpc(url, 'eth_sendRawTransaction', raw)).error, { code: -32000, message }, what)
  }
  const raw = await account.signTransaction(base)
  t.match((await rpc(url, 'eth_sendRawTransaction', '0x02')).error, { message: 'invalid transaction' })
  const { result } = await rpc(url, 'eth_sendRawTransaction', raw)
  t.match((await rpc(url, 'eth_getTransactionReceipt', result)).result, { status: '0x0', contractAddress: null })
  t.match((await rpc(url, 'eth_sendRawTransaction', raw)).error, { message: 'already known' })
  const again = await account.signTransaction({ ...base, gas: 90_000n })
  t.match((await rpc(url, 'eth_sendRawTransaction', again)).error, { message: /^nonce too low/ })
})

t.test('an estimate is enough, and little more than what is used', async (t) => {
  const { url } = await nodeOf(t)
  const account = newKey()
  const data = deployData('SayingWallet', [`0x${'77'.repeat(200)}`])
  const { result } = await rpc(url, 'eth_estimateGas', { from: account.address, data })
  const raw = await account.signTransaction({
    chainId: CHAIN_ID, type: 'eip1559', nonce: 0, gas: BigInt(result), maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, data,
  })
  const receipt = (await rpc(url, 'eth_getTransactionReceipt', (await rpc(url, 'eth_sendRawTransaction', raw)).result)).result
  t.equal(receipt.status, '0x1')
  t.ok(BigInt(result) - BigInt(receipt.gasUsed) <= BigInt(result) / 32n, `${result} for ${receipt.gasUsed}`)
  t.equal((await rpc(url, 'eth_estimateGas', { from: account.address, to: newKey().address })).result, '0x5208')
})

t.test('an account delegates its code with a set-code transaction', async (t) => {
  const { url } = await nodeOf(t)
  const [owner, account, client] = [newKey(), newKey(), publicClient(url)]
  const target = await deploy(url, 'OwnedWallet', [owner.address])
  const authorization = await account.signAuthorization({ contractAddress: target, chainId: CHAIN_ID, nonce: 0 })
  const hash = await walletClient(url).sendTransaction({ to: newKey().address, authorizationList: [authorization] })
  t.match(await client.waitForTransactionReceipt({ hash }), { type: 'eip7702' })
  t.equal(await client.getCode({ address: account.address }), `0xef0100${target.slice(2).toLowerCase()}`)
  t.match(await client.getTransaction({ hash }), { authorizationList: [{ address: target.toLowerCase(), nonce: 0 }] })
  const digest = `0x${'01'.repeat(32)}` as Hex
  const call = { address: account.address, abi: contracts().OwnedWallet.abi, functionName: 'isValidSignature' } as const
  t.equal(await client.readContract({ ...call, args: [digest, await owner.sign({ hash: digest })] }), '0x1626ba7e')
})

t.test('calls change nothing and see the time', async (t) => {
  const node = await nodeOf(t)
  const { url } = node
  const address = await deploy(url, 'CountingWallet')
  const { abi } = contracts().CountingWallet
  const client = publicClient(url)
  const call = { address, abi, functionName: 'isValidSignature', args: [`0x${'00'.repeat(32)}`, '0x'] } as const
  for (let i = 0; i < 3; i++) t.equal((await client.simulateContract(call)).result, '0x1626ba7e')
  t.equal(await client.readContract({ address, abi, functionName: 'count' }), 0n)
  // NUMBER and TIMESTAMP, returned by code that runs as a creation: 0x43 5f 52 42 60 20 52 60 40 5f f3.
  const seen = async (): Promise<bigint[]> => {
    const { result } = await rpc(url, 'eth_call', { data: '0x435f524260205260405ff3' }, 'latest')
    return [BigInt(result.slice(0, 66)), BigInt(`0x${result.slice(66)}`)]
  }
  t.same(await seen(), [2n, 1_800_000_000n])
  node.time += 86_400
  t.same(await seen(), [2n, 1_800_086_400n], 'of the block that would come now')
  node.time -= 200_000
  await deploy(url, 'CountingWallet')
  t.equal((await client.getBlock()).timestamp, 1_800_000_000n, 'a block is never before its parent')
})

t.test('what is not well formed is refused by its standard code', async (t) => {
  const { url } = await nodeOf(t)
  const codeOf = async (body: string): Promise<number> => ((await (await post(url, body)).json()) as { error: { code: number } }).error.code
  t.equal(await codeOf('{"jsonrpc":'), -32700)
  t.equal(await codeOf('[]'), -32600)
  t.equal(await codeOf('{"id":1,"method":"eth_chainId"}'), -32600)
  t.equal(await codeOf('5'), -32600)
  t.equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"eth_sign"}'), -32601)
  t.equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"toString"}'), -32601)
  t.equal(await codeOf('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":{}}'), -32602)
  const wrong: [string, unknown[]][] = [
    ['eth_getCode', ['0x12']], ['eth_getCode', []], ['eth_getBalance', [`0x${'1'.repeat(40)}`, 'soon']], ['eth_call', ['x']],
    ['eth_call', [{ to: 5 }]], ['eth_call', [{ data: '0x1' }]], ['eth_call', [{}, 'latest', {}]], ['eth_getTransactionReceipt', ['0x']],
    ['eth_getBlockByHash', ['0x1']], ['eth_getLogs', []], ['eth_getLogs', [{ topics: 'x' }]], ['eth_feeHistory', ['0x0', 'latest']],
    ['eth_estimateGas', [{ authorizationList: [1] }]], ['eth_estimateGas', [{ accessList: 5 }]], ['eth_sendRawTransaction', [5]],
  ]
  for (const [method, params] of wrong) {
    t.equal((await rpc(url, method, ...params)).error?.code, -32602, `${method} ${JSON.stringify(params)}`)
  }
  for (const method of ['eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_getTransactionByHash', 'eth_getTransactionReceipt']) {
    t.equal((await rpc(url, method, method.endsWith('Number') ? '0x10' : `0x${'00'.repeat(32)}`)).result, null, method)
  }
  const mixed = [{ jsonrpc: '2.0', id: 'a', method: 'eth_chainId' }, 7, { jsonrpc: '2.0', method: 'x' }]
  const batch = await (await post(url, JSON.stringify(mixed))).json()
  t.match(batch, [{ id: 'a', result: '0x530' }, { id: null, error: { code: -32600 } }], 'a notification is not answered')
  t.equal((await post(url, '{"jsonrpc":"2.0","method":"eth_chainId"}')).status, 204)
})

t.test('bodies, batches, ranges and work are bounded, and web pages are kept out', async (t) => {
  const { url } = await nodeOf(t)
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
  t.equal(((await (await post(url, JSON.stringify(Array(BATCH_MAX).fill(call)))).json()) as unknown[]).length, BATCH_MAX)
  t.match(await (await post(url, JSON.stringify(Array(BATCH_MAX + 1).fill(call)))).json(), { error: { code: -32005 } })
  const tooLong = await post(url, ' '.repeat(BODY_BYTES_MAX + 1)).then((response) => response.status, () => 'closed')
  t.ok(tooLong === 413 || tooLong === 'closed', 'a body that is too long')
  t.match((await rpc(url, 'eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })).result, [])
  t.match((await rpc(url, 'eth_feeHistory', '0x401', 'latest')).error, { code: -32602 })
  t.equal((await post(url, JSON.stringify(call), { 'Content-Type': 'text/plain' })).status, 415)
  t.equal((await post(url, JSON.stringify(call), { 'Content-Type': 'application/json', Origin: 'https://example.org' })).status, 403)
  t.equal((await fetch(url)).status, 405)
  // Huge answers, each within what one call may do.
  const huge = await deploy(url, 'HugeWallet', [2_000_000n])
  const calls = Array.from({ length: 8 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_call', params: [{ to: huge }, 'latest'] }))
  const replies = (await (await post(url, JSON.stringify(calls))).json()) as { id: number; result?: string; error?: { code: number } }[]
  t.same(replies.map(({ id }) => id), [0, 1, 2, 3, 4, 5, 6, 7])
  t.ok(replies.some(({ error }) => error?.code === -32005) && replies.some(({ result }) => result?.length === 4_000_002))
})

t.test('work that takes too long is cut short without a result, and the chain goes on', async (t) => {
  const { url, devnet } = await nodeOf(t)
  const endless = await deploy(url, 'EndlessWallet')
  const [head] = [devnet.blocks.at(-1)!]
  const from = `0x${'00'.repeat(20)}` as const
  const request = { from, to: endless.toLowerCase() as Hex, data: '0x', value: 0n, gas: TRANSACTION_GAS_LIMIT } as const
  await t.rejects(devnet.call(request, head, 1), { name: 'RpcError', message: 'execution took too long' })
  const answer = await devnet.call({ ...request, gas: 100_000n }, head, 60_000)
  t.equal(answer.exceptionError?.error, 'out of gas', 'with time enough it is the gas that ends')
})

t.test('after a restart the same blocks are there', async (t) => {
  const directory = newDirectory(t)
  const first = await startNode(directory)
  const address = await deploy(first.url, 'SayingWallet', ['0x1234'])
  first.time += 5
  await deploy(first.url, 'CountingWallet')
  await deploy(first.url, 'RevertingWallet')
  const hashes = first.devnet.blocks.map(({ hash }) => hash)
  await first.close()
  const second = await startNode(directory, 1_900_000_000)
  t.teardown(() => second.close())
  t.same(second.devnet.blocks.map(({ hash }) => hash), hashes)
  t.equal((await rpc(second.url, 'eth_call', { to: address }, 'latest')).result, '0x1234')
  await deploy(second.url, 'OwnedWallet', [newKey().address])
  t.equal(second.devnet.blocks.length, 5)
  t.equal(new Set(second.devnet.blocks.map(({ hash }) => hash)).size, 5)
})

/** Numbers of the blocks that a start of this chain executes, and the hashes of all. */
async function startOf(directory: string): Promise<{ executed: number[]; hashes: string[] }> {
  const store = openChainStore(chainPath(directory), CHAIN_ID, chainRules)
  const executed: number[] = []
  const { blocks } = await openDevnet(CHAIN_ID, store, () => 1_900_000_000, (number) => executed.push(number))
  store.close()
  return { executed, hashes: blocks.map(({ hash }) => hash) }
}

t.test('a start executes only what was not kept, and keeps it then', async (t) => {
  const directory = newDirectory(t)
  const node = await startNode(directory)
  for (let i = 0; i < 4; i++) await deploy(node.url, 'CountingWallet')
  const hashes = node.devnet.blocks.map(({ hash }) => hash)
  await node.close()
  t.same(await startOf(directory), { executed: [], hashes })
  const damage = [
    'DELETE FROM states WHERE number = 3', "UPDATE states SET content = x'00' WHERE number = 3",
    "UPDATE states SET checksum = x'00' WHERE number = 3",
    'UPDATE states SET content = (SELECT content FROM states WHERE number = 4) WHERE number = 3',
  ]
  for (const statement of damage) {
    const database = new Database(chainPath(directory))
    database.exec(statement)
    database.close()
    t.same(await startOf(directory), { executed: [3, 4], hashes }, statement)
    t.same(await startOf(directory), { executed: [], hashes }, 'once')
  }
})

const FIXED = privateKeyToAccount(`0x${'11'.repeat(32)}`)
/** Deploys a contract by a key that is always the same, in a block. */
async function deployAs(devnet: Devnet, nonce: number, name: Parameters<typeof deployData>[0]): Promise<void> {
  const fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
  const raw = await FIXED.signTransaction({ chainId: CHAIN_ID, type: 'eip1559', nonce, gas: 2_000_000n, data: deployData(name), ...fees })
  await devnet.send(new Uint8Array(Buffer.from(raw.slice(2), 'hex')))
}

t.test('what calls write is neither kept nor remembered', async (t) => {
  const keptOf = async (calls: number): Promise<unknown> => {
    const store = openChainStore(chainPath(newDirectory(t)), CHAIN_ID, chainRules)
    const devnet = await openDevnet(CHAIN_ID, store, () => 1)
    // PUSH1 7, PUSH1 3, SSTORE: what runs as a creation writes.
    const request = { from: FIXED.address, to: null, data: '0x6007600355' as Hex, value: 0n, gas: 100_000n }
    await deployAs(devnet, 0, 'CountingWallet')
    for (let i = 0; i < calls; i++) t.notOk((await devnet.call(request, devnet.blocks.at(-1)!, 5_000)).exceptionError)
    await deployAs(devnet, 1, 'RevertingWallet')
    const nodes = [...store.blocks()].map((block) => store.kept(block)!.kept.nodes)
    store.close()
    return nodes
  }
  t.same(await keptOf(3), await keptOf(0))
})

t.test('a chain whose transactions took their time together is full, after every start too', async (t) => {
  const store = openChainStore(chainPath(newDirectory(t)), CHAIN_ID, chainRules)
  t.teardown(() => store.close())
  await deployAs(await openDevnet(CHAIN_ID, store, () => 1), 0, 'RevertingWallet')
  const block = [...store.blocks()][0]!
  const { kept } = store.kept(block)!
  t.ok(kept.ms > 0 && kept.ms < WORK_MS_MAX, 'what one took is kept')
  store.keep(block, { ...kept, ms: WORK_MS_MAX })
  await deployAs(await openDevnet(CHAIN_ID, store, () => 1), 1, 'RevertingWallet')
  await t.rejects(deployAs(await openDevnet(CHAIN_ID, store, () => 1), 2, 'RevertingWallet'), { message: 'the chain is full' })
  store.keep(block, kept)
  const large: ChainStore = { ...store, kept: (each) => ({ ...store.kept(each)!, bytes: KEPT_BYTES_MAX }) }
  await t.rejects(deployAs(await openDevnet(CHAIN_ID, large, () => 1), 2, 'RevertingWallet'), { message: 'the chain is full' })
  await deployAs(await openDevnet(CHAIN_ID, store, () => 1), 2, 'RevertingWallet')
})

t.test('a store that is damaged, or of another chain, is refused', async (t) => {
  const damage: [string, (database: Database.Database) => void][] = [
    ['a missing block', (database) => database.exec('DELETE FROM blocks WHERE number = 1')],
    ['another hash', (database) => database.exec("UPDATE blocks SET hash = x'00' WHERE number = 2")],
    ['another time', (database) => database.exec('UPDATE blocks SET timestamp = timestamp + 1 WHERE number = 1')],
    ['bytes that are no transaction', (database) => database.exec("UPDATE blocks SET raw = x'02' WHERE number = 2")],
    ['another chain', (database) => database.exec('UPDATE chain SET chain_id = 1')],
    ['other rules', (database) => database.exec("UPDATE chain SET rules = 'frontier'")],
  ]
  for (const [what, change] of damage) {
    const directory = newDirectory(t)
    const node = await startNode(directory)
    await deploy(node.url, 'RevertingWallet')
    await deploy(node.url, 'RevertingWallet')
    await node.close()
    const database = new Database(chainPath(directory))
    change(database)
    database.close()
    await t.rejects(startNode(directory), { name: 'ChainDamaged' }, what)
  }
  t.equal(new ChainDamaged('x').name, 'ChainDamaged')
})

t.test('a transaction that cannot be stored did not happen', async (t) => {
  const directory = newDirectory(t)
  const store = openChainStore(chainPath(directory), CHAIN_ID, chainRules)
  t.teardown(() => store.close())
  let broken = true
  const failing: ChainStore = {
    ...store,
    append: (block) => {
      if (broken) throw new Error('disk full')
      store.append(block)
    },
  }
  const devnet = await openDevnet(CHAIN_ID, failing, () => 1)
  const raw = await newKey().signTransaction({
    chainId: CHAIN_ID, type: 'eip1559', nonce: 0, gas: 1_000_000n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n,
    data: deployData('RevertingWallet'),
  })
  const bytes = new Uint8Array(Buffer.from(raw.slice(2), 'hex'))
  await t.rejects(devnet.send(bytes), { message: 'disk full' })
  t.equal(devnet.blocks.length, 1)
  broken = false
  await devnet.send(bytes)
  t.equal(devnet.blocks.length, 2, 'and may be sent again')
  const transaction = createTxFromRLP(bytes, { common: commonOf(CHAIN_ID) })
  t.same(rootOfOne(transaction.serialize()), await genTransactionsTrieRoot([transaction]), 'roots of one entry are as the library has them')
})
