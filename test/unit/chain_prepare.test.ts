/**
 * Promise: an embedded chain has the deployer and the code of the exchange's tokens before anybody is answered, once, whatever happened
 * before; a chain that is not that of settlement gets nothing; and what is derived of them needs no chain: deposit addresses, digests.
 */
import t from 'tap'
import { encodeAbiParameters, getContractAddress, keccak256, recoverAddress, type Hex as ViemHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { prepareChain, tokensOf } from '../../gateway/chain/prepare.ts'
import { atomsOf, rawOf } from '../../gateway/chain/vault/amounts.ts'
import { artifact } from '../../gateway/chain/vault/artifact_file.ts'
import { CREATE2_DEPLOYER, CREATE2_DEPLOYER_CODE } from '../../gateway/chain/vault/artifacts.ts'
import { applicationBytes, DEFAULT_APPLICATION, depositAddresses } from '../../gateway/chain/vault/deposit_address.ts'
import { withdrawalDigest, withdrawalTypedData, withdrawCalldata } from '../../gateway/chain/vault/typed_data.ts'
import type { Hex } from '../../gateway/chain/vault/types.ts'
import { startDevnet } from '../support/devnet_node.ts'
import { shippedGenesis } from '../support/shipped_genesis.ts'

const GENESIS = parseGenesis(JSON.stringify(shippedGenesis()))
const hex = (byte: string, bytes = 20): Hex => `0x${byte.repeat(bytes)}`

t.test('the code is there, once', async (t) => {
  const { devnet } = await startDevnet(t, GENESIS)
  const tokens = tokensOf(GENESIS)
  t.same(tokens, [1, 2, 3].map((n) => `0x${'00'.repeat(18)}100${n}`))
  t.equal(devnet.blocks.length, 2 + tokens.length)
  const newest = devnet.find('latest')!
  t.equal(await devnet.code(CREATE2_DEPLOYER, newest), CREATE2_DEPLOYER_CODE)
  for (const token of tokens) t.equal(await devnet.code(token, newest), artifact('TestToken').deployedBytecode)
  t.equal(await prepareChain(devnet, GENESIS), 0)
  t.equal(devnet.blocks.length, 2 + tokens.length)
  // Taken back into the middle of it, as after a crash.
  await devnet.rewind(2)
  t.equal(await prepareChain(devnet, GENESIS), tokens.length - 1)
  t.equal(devnet.blocks.length, 2 + tokens.length)
})

t.test('code of another version stays', async (t) => {
  const { devnet } = await startDevnet(t, { chainId: 1328, sweeperChains: [] })
  t.equal(devnet.blocks.length, 1, 'nothing without a chain of settlement')
  const [first] = tokensOf(GENESIS)
  await devnet.setCode({ address: first!, code: '0x602a' })
  t.equal(await prepareChain(devnet, GENESIS), tokensOf(GENESIS).length)
  t.equal(await devnet.code(first!, devnet.find('latest')!), '0x602a')
  t.equal(await prepareChain(devnet, { ...GENESIS, chainId: 5 }), 0, 'the hub is another chain')
})

t.test('deposit addresses by the rule of CREATE2', async (t) => {
  const factory = hex('f0')
  const derive = depositAddresses(factory)
  const bytecode = artifact('DepositForwarder').bytecode
  const application = applicationBytes('5A1C0000-0000-4000-8000-000000000001')
  for (const [who, what] of [[hex('12'), DEFAULT_APPLICATION], [hex('34'), application]] as const) {
    const salt = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes16' }], [who, what]))
    t.equal(derive(who, what), getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode }).toLowerCase())
  }
  t.equal(application, '0x5a1c0000000040008000000000000001')
  const many = new Set(Array.from({ length: 500 }, (_, i) => derive(`0x${i.toString(16).padStart(40, '0')}`, DEFAULT_APPLICATION)))
  t.equal(many.size, 500)
  t.not(depositAddresses(hex('f1'))(hex('12'), DEFAULT_APPLICATION), derive(hex('12'), DEFAULT_APPLICATION))
  t.throws(() => derive('0x12', DEFAULT_APPLICATION))
  t.throws(() => derive(hex('12'), '0x12'))
})

t.test('what is signed is the digest, and stands in the calldata', async (t) => {
  const places = { chainId: 1328, vault: hex('a1'), factory: hex('a2') }
  const row = { token: hex('a3'), amount: 5n, destination: hex('a4'), nonce: 7n, deadline: 1_900_000_000n }
  const account = privateKeyToAccount(hex('11', 32))
  const signature = await account.signTypedData(withdrawalTypedData(places, row) as never)
  const digest = withdrawalDigest(places, row)
  t.equal(await recoverAddress({ hash: digest as ViemHex, signature }), account.address)
  const others = [{ ...places, chainId: 1 }, { ...places, vault: hex('b1') }].map((other) => withdrawalDigest(other, row))
  const changed = [{ token: hex('b1') }, { amount: 6n }, { destination: hex('b1') }, { nonce: 8n }, { deadline: 1n }]
  const all = [digest, ...others, ...changed.map((over) => withdrawalDigest(places, { ...row, ...over }))]
  t.equal(new Set(all).size, all.length, 'every part of it counts')
  t.equal(withdrawalDigest({ ...places, factory: hex('b1') }, row), digest)
  const words = [row.token.slice(2), '5', row.destination.slice(2), '7'].map((word) => word.padStart(64, '0'))
  const data = withdrawCalldata(row, signature)
  t.ok(data.slice(10).startsWith(words.join('')))
  t.ok(data.includes(signature.slice(2)))
})

t.test('amounts: nothing is made, nothing is lost', async (t) => {
  t.same(atomsOf(1_999_999_999n, 18, 9), { atoms: 1n, remainder: 999_999_999n })
  t.same(atomsOf(5n, 6, 6), { atoms: 5n, remainder: 0n })
  t.same(atomsOf(5n, 6, 9), { atoms: 5_000n, remainder: 0n })
  t.same([rawOf(5n, 18, 9), rawOf(5n, 6, 6), rawOf(5_000n, 6, 9), rawOf(5_001n, 6, 9)], [5_000_000_000n, 5n, 5n, null])
  for (const [decimals, scale] of [[18, 9], [6, 6], [8, 2], [6, 9], [0, 0], [36, 0]] as const) {
    for (const raw of [0n, 1n, 999n, 123_456_789_012_345_678n, 2n ** 200n + 7n]) {
      const { atoms, remainder } = atomsOf(raw, decimals, scale)
      t.equal(rawOf(atoms, decimals, scale)! + remainder, raw, `${raw} of ${decimals} decimals, scale ${scale}`)
      t.ok(remainder < 10n ** BigInt(Math.max(0, decimals - scale)))
    }
  }
})
