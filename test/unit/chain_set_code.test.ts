/**
 * Promise: code that the embedded chain is given without a transaction stands in a block like everything else, over restarts and when
 * blocks are executed again; and a chain that is taken back forgets what was behind, also in its store, and goes on differently.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createTxFromRLP } from '@ethereumjs/tx'
import t, { type Test } from 'tap'
import { privateKeyToAccount } from 'viem/accounts'
import { chainRules, openDevnet, type Devnet } from '../../gateway/chain/devnet.ts'
import { commonOf } from '../../gateway/chain/machine.ts'
import { METHODS } from '../../gateway/chain/methods.ts'
import { decodeSetCode, encodeSetCode } from '../../gateway/chain/set_code.ts'
import { chainPath, openChainStore, type ChainStore } from '../../gateway/chain/store.ts'
import { toBytes, type Hex } from '../../gateway/chain/values.ts'
import { CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE, SALT } from '../../gateway/chain/vault/artifacts.ts'
import { removeDirectory } from '../support/exchange.ts'

const CHAIN_ID = 1328
const ADDRESS: Hex = `0x${'00'.repeat(18)}1001`
/** Returns 42. */
const CODE: Hex = '0x602a5f5260205ff3'
const SENDER = privateKeyToAccount(`0x${'11'.repeat(32)}`)

interface Opened {
  readonly devnet: Devnet
  readonly store: ChainStore
  /** Blocks that the start executed. */
  readonly executed: number[]
}

async function open(directory: string, time = 1_800_000_000): Promise<Opened> {
  const store = openChainStore(chainPath(directory), CHAIN_ID, chainRules)
  const executed: number[] = []
  return { store, executed, devnet: await openDevnet(CHAIN_ID, store, () => time, (number) => executed.push(number)) }
}

function newDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-code-'))
  t.teardown(() => removeDirectory(directory))
  return directory
}

async function returned(devnet: Devnet, to: Hex): Promise<string> {
  const { returnValue } = await devnet.call({ from: ADDRESS, to, data: '0x', value: 0n, gas: 100_000n }, devnet.find('latest')!, 1_000)
  return Buffer.from(returnValue).toString('hex').replace(/^0+/, '')
}

async function send(devnet: Devnet, nonce: number, to: Hex, data: Hex = '0x'): Promise<Hex> {
  const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, type: 'eip1559' } as const
  return devnet.send(toBytes(await SENDER.signTransaction({ chainId: CHAIN_ID, nonce, to, data, gas: 500_000n, ...free })))
}

const hashesOf = ({ blocks }: Devnet): string[] => blocks.map(({ hash }) => hash)

t.test('code without a transaction', async (t) => {
  const directory = newDirectory(t)
  const first = await open(directory)
  t.equal(await first.devnet.setCode({ address: ADDRESS, code: CODE }), true)
  t.equal(await first.devnet.setCode({ address: ADDRESS, code: CODE }), false, 'once')
  t.equal(first.devnet.blocks.length, 2)
  await t.rejects(first.devnet.setCode({ address: ADDRESS, code: '0x00' }), { name: 'RpcError', message: `other code is at ${ADDRESS}` })
  t.equal(await returned(first.devnet, ADDRESS), '2a')
  t.match(await first.devnet.account(ADDRESS, first.devnet.find('latest')!), { nonce: 1n, balance: 0n })
  t.equal(await first.devnet.code(ADDRESS, first.devnet.find(0)!), '0x', 'not before')
  t.match(METHODS['eth_getBlockByNumber']!(first.devnet, ['0x1', true], 1), { transactions: [], gasUsed: '0x0' })
  t.same(METHODS['eth_getLogs']!(first.devnet, [{ fromBlock: '0x0' }], 1), [])
  // The deployer works as everywhere: salt and creation code in, the address out.
  t.equal(await first.devnet.setCode({ address: CREATE2_DEPLOYER, code: CREATE2_DEPLOYER_CODE }), true)
  await send(first.devnet, 0, CREATE2_DEPLOYER, `${SALT}67${CODE.slice(2)}5f526008601 8f3`.replace(' ', '') as Hex)
  const receipt = METHODS['eth_getTransactionReceipt']!(first.devnet, [first.devnet.blocks[3]!.done!.hash], 1)
  t.match(receipt, { status: '0x1' })
  const hashes = hashesOf(first.devnet)
  first.store.close()

  for (const [statement, executed] of [['SELECT 1', []], ['DELETE FROM states WHERE number = 1', [1, 2, 3]]] as const) {
    const database = new Database(chainPath(directory))
    database.exec(statement)
    database.close()
    const next = await open(directory, 1_900_000_000)
    t.same(next.executed, executed, statement)
    t.same(hashesOf(next.devnet), hashes)
    t.equal(await returned(next.devnet, ADDRESS), '2a')
    t.equal(await next.devnet.setCode({ address: ADDRESS, code: CODE }), false)
    next.store.close()
  }
})

t.test('it is no transaction, and no transaction is it', async (t) => {
  const raw = encodeSetCode({ address: ADDRESS, code: CODE })
  t.same(decodeSetCode(raw), { address: ADDRESS, code: CODE })
  t.throws(() => createTxFromRLP(raw, { common: commonOf(CHAIN_ID) }), 'versions before it refuse the chain')
  const { devnet, store } = await open(newDirectory(t))
  t.teardown(() => store.close())
  await t.rejects(devnet.send(raw), { name: 'RpcError', message: 'invalid transaction' }, 'nobody can send it')
  t.equal(devnet.blocks.length, 1)
  t.equal(decodeSetCode(toBytes(await SENDER.signTransaction({ chainId: 1, gas: 1n, type: 'eip1559' }))), null)
  t.throws(() => encodeSetCode({ address: '0x12', code: CODE }))
  t.throws(() => encodeSetCode({ address: ADDRESS, code: '0x' }))
})

t.test('a chain taken back', async (t) => {
  const directory = newDirectory(t)
  const { devnet, store } = await open(directory)
  await devnet.setCode({ address: ADDRESS, code: CODE })
  const [one, two, three] = [await send(devnet, 0, ADDRESS), await send(devnet, 1, ADDRESS), await send(devnet, 2, ADDRESS)]
  const before = hashesOf(devnet)
  await t.rejects(devnet.rewind(5), { message: 'there is no block 5' })
  await devnet.rewind(2)
  t.same(hashesOf(devnet), before.slice(0, 3))
  t.equal(devnet.findTransaction(two), null)
  t.equal(devnet.findTransaction(one)!.number, 2)
  t.equal(devnet.find({ hash: before[3] as Hex }), null)
  t.equal((await devnet.account(SENDER.address.toLowerCase() as Hex, devnet.find('latest')!)).nonce, 1n)
  // Another second transaction, then the third again.
  await send(devnet, 1, `0x${'77'.repeat(20)}`)
  t.equal(await send(devnet, 2, ADDRESS), three)
  const after = hashesOf(devnet)
  t.same(after.slice(0, 3), before.slice(0, 3))
  t.not(after[3], before[3])
  t.not(after[4], before[4], 'the same transaction, in another block')
  t.equal(await returned(devnet, ADDRESS), '2a')
  store.close()
  const again = await open(directory, 1_900_000_000)
  t.same([hashesOf(again.devnet), again.executed], [after, []])
  t.equal((await again.devnet.account(SENDER.address.toLowerCase() as Hex, again.devnet.find('latest')!)).nonce, 3n)
  await again.devnet.rewind(0)
  t.same(hashesOf(again.devnet), before.slice(0, 1))
  t.equal(await again.devnet.setCode({ address: ADDRESS, code: CODE }), true)
  t.equal(await send(again.devnet, 0, ADDRESS), one)
  again.store.close()
  const last = await open(directory)
  t.equal(last.devnet.blocks.length, 3)
  last.store.close()
})
