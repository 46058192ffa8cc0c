/**
 * Promise: the signer thread signs authorisations of its own vault and calls of the exchange, and nothing else; the same row gives the same
 * signature; its key comes from a file for its owner alone or from elsewhere, and is in nothing that the thread says.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import {
  encodeFunctionData, parseTransaction, recoverTransactionAddress, recoverTypedDataAddress, toFunctionSelector,
  type TransactionSerializedEIP1559,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { VaultKeyPlace } from '../../core/threads.ts'
import { takeVaultKey } from '../../core/exchange/vault_key.ts'
import { readConfig, type Config } from '../../core/config.ts'
import { CREATE2_DEPLOYER, FACTORY_ABI, SALT, TOKEN_ABI, VAULT_ABI } from '../../gateway/chain/vault/artifacts.ts'
import { scopeOf } from '../../gateway/chain/vault/deploy.ts'
import { createSigner, SIGNER_THREAD, startSigner } from '../../gateway/chain/vault/signer.ts'
import { withdrawalTypedData } from '../../gateway/chain/vault/typed_data.ts'
import type { Authorisation, Hex, Places, Signer, SignerScope, Unsigned } from '../../gateway/chain/vault/types.ts'
import { removeDirectory } from '../support/exchange.ts'

t.setTimeout(240_000)

const KEY = 'b71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291'
const OWN = privateKeyToAccount(`0x${KEY}`).address.toLowerCase() as Hex
const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const [VAULT, FACTORY, TOKEN, OTHER] = [address('a1'), address('a2'), address('a3'), address('a4')]
const HUB: Places = { chainId: 1328, vault: VAULT, factory: FACTORY }
const SCOPE: SignerScope = scopeOf(HUB, { tokens: [TOKEN], chains: [1328, 5], deploys: false, feePerGasMax: 10n ** 11n })
const ROW: Authorisation = { token: TOKEN, amount: 1_000_000n, destination: OTHER, nonce: 4711n, deadline: 1_900_000_000n }
const BATCH = encodeFunctionData({
  abi: VAULT_ABI, functionName: 'postBatch', args: [1n, 2n, 3, `0x${'01'.repeat(32)}`, 4, `0x${'02'.repeat(32)}`],
})
const CALL: Unsigned = {
  chainId: 1328, nonce: 7, to: VAULT, data: BATCH, gas: 200_000n, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n,
}
const refused = (message: string) => ({ name: 'SignerRefused', message })

async function signerOf(t: Test, place: VaultKeyPlace = { kind: 'given', key: KEY }, scope: SignerScope | null = SCOPE): Promise<Signer> {
  const { signer, end } = await startSigner(place)
  t.teardown(end)
  if (scope !== null) await signer.bind(scope)
  return signer
}

function directoryOf(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'ringbook-key-'))
  t.teardown(() => removeDirectory(directory))
  return directory
}

t.test('an authorisation: its own vault’s, recoverable, low s, always the same', async (t) => {
  const signer = await signerOf(t)
  t.equal(await signer.address(), OWN)
  const signature = await signer.authorise(ROW)
  t.equal((await recoverTypedDataAddress({ ...withdrawalTypedData(HUB, ROW), signature } as never)).toLowerCase(), OWN)
  t.match(signature, /^0x[0-9a-f]{128}1[bc]$/)
  t.ok(BigInt(`0x${signature.slice(66, 130)}`) < 2n ** 255n)
  t.equal(await signer.authorise({ ...ROW }), signature)
  const again = await signerOf(t, { kind: 'given', key: `0x${KEY.toUpperCase()}` })
  t.equal(await again.authorise(ROW), signature, 'after a restart, too')
  t.not(await signer.authorise({ ...ROW, nonce: 4712n }), signature)
})

t.test('what is no withdrawal of this vault is not authorised', async (t) => {
  const signer = await signerOf(t)
  const wrong: [string, object, string][] = [
    ['another token', { token: OTHER }, 'a token of nobody'],
    ['nothing', { amount: 0n }, 'an authorisation of nothing'],
    ['no nonce', { nonce: 0n }, 'an authorisation of nothing'],
    ['for ever', { deadline: 0n }, 'an authorisation of nothing'],
    ['to nobody', { destination: address('00') }, 'a destination that the vault refuses'],
    ['to the vault', { destination: VAULT }, 'a destination that the vault refuses'],
    ['too much', { amount: 2n ** 256n }, 'no authorisation'],
    ['a number', { amount: 5 }, 'no authorisation'],
    ['a negative', { deadline: -1n }, 'no authorisation'],
    ['no address', { destination: '0x12' }, 'no authorisation'],
    ['upper case', { token: TOKEN.toUpperCase() }, 'no authorisation'],
  ]
  for (const [what, over, message] of wrong) await t.rejects(signer.authorise({ ...ROW, ...over }), refused(message), what)
})

t.test('calls of the exchange are signed', async (t) => {
  const signer = await signerOf(t)
  const pause = encodeFunctionData({ abi: VAULT_ABI, functionName: 'pause' })
  const sweep = encodeFunctionData({ abi: FACTORY_ABI, functionName: 'sweepMany', args: [[]] })
  const mint = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'mint', args: [SALT, VAULT, 1n] })
  const good: Partial<Unsigned>[] = [
    {}, { data: pause }, { to: FACTORY, data: sweep }, { to: FACTORY, data: sweep, chainId: 5 }, { to: TOKEN, data: mint },
    { to: OWN, data: '0x', gas: 21_000n }, { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
  ]
  for (const over of good) {
    const asked = { ...CALL, ...over }
    const { raw, hash } = await signer.sign(asked)
    const read = parseTransaction(raw as TransactionSerializedEIP1559)
    t.match(read, { chainId: asked.chainId, nonce: 7, to: asked.to, type: 'eip1559' })
    t.equal(read.value ?? 0n, 0n)
    t.equal((await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerializedEIP1559 })).toLowerCase(), OWN)
    t.match(hash, /^0x[0-9a-f]{64}$/)
    t.same(await signer.sign(asked), { raw, hash })
  }
})

t.test('no other call is', async (t) => {
  const signer = await signerOf(t)
  const selector = (signature: string): Hex => `${toFunctionSelector(signature)}${'00'.repeat(96)}` as Hex
  const wrong: [string, Partial<Unsigned>, string][] = [
    ...([
      ['the roles', { data: selector('proposeOperator(address)') }], ['the owner', { data: selector('proposeOwner(address)') }],
      ['a rescue', { data: selector('rescue(address,address,uint256)') }], ['unpausing', { data: selector('unpause()') }],
      ['the list of tokens', { data: selector('setToken(address,bool,uint256)') }],
      ['the vault of the factory', { to: FACTORY, data: selector('setVault(address)') }],
      ['a token’s transfer', { to: TOKEN, data: selector('transfer(address,uint256)') }],
      ['its approval', { to: TOKEN, data: selector('approve(address,uint256)') }],
      ['its minter', { to: TOKEN, data: selector('initialize(string,string,uint8,address)') }],
      ['a deployment', { to: CREATE2_DEPLOYER }], ['somebody else', { to: OTHER, data: '0x' }], ['no function', { data: '0x' }],
      ['something to itself', { to: OWN, data: '0x00' }],
    ] as const).map(([what, over]): [string, Partial<Unsigned>, string] => [what, over, 'a call that is none of the exchange']),
    ['another chain', { chainId: 1 }, 'another chain'],
    ['too much gas', { gas: SCOPE.gasMax + 1n }, 'too much gas'],
    ['too high a fee', { gas: SCOPE.gasMax, maxFeePerGas: 10n ** 11n + 1n }, 'too high a fee'],
    ['a tip above the fee', { maxPriorityFeePerGas: CALL.maxFeePerGas + 1n }, 'no transaction'],
    ['a nonce that is none', { nonce: 1.5 }, 'no transaction'],
    ['half a byte', { data: '0x1' }, 'no transaction'],
    ['long data', { data: `0x${'00'.repeat(200_000)}` }, 'no transaction'],
  ]
  for (const [what, over, message] of wrong) await t.rejects(signer.sign({ ...CALL, ...over }), refused(message), what)
  const value = { ...CALL, value: 5n, accessList: [{ address: OTHER, storageKeys: [] }], to: VAULT }
  const { raw } = await signer.sign(value)
  t.match(await signer.sign(CALL), { raw }, 'no value is sent, whatever is asked')
})

t.test('what sets contracts up is signed where they are set up', async (t) => {
  const signer = await signerOf(t, undefined, { ...SCOPE, deploys: true })
  t.ok(await signer.sign({ ...CALL, to: CREATE2_DEPLOYER, data: `${SALT}60` }))
  t.ok(await signer.sign({ ...CALL, data: encodeFunctionData({ abi: VAULT_ABI, functionName: 'setToken', args: [TOKEN, true, 1n] }) }))
  const owner = signer.sign({ ...CALL, data: toFunctionSelector('proposeOwner(address)') })
  await t.rejects(owner, refused('a call that is none of the exchange'))
})

t.test('the first scope is the only one', async (t) => {
  const signer = await signerOf(t, undefined, null)
  await t.rejects(signer.authorise(ROW), refused('it has no scope yet'))
  await t.rejects(signer.sign(CALL), refused('it has no scope yet'))
  await t.rejects(signer.bind({ ...SCOPE, hub: { ...HUB, vault: '0x12' } }), refused('no scope'))
  await t.rejects(signer.bind({ ...SCOPE, chains: [5] }), refused('no scope'))
  await signer.bind(SCOPE)
  await signer.bind(structuredClone(SCOPE))
  await t.rejects(signer.bind({ ...SCOPE, hub: { ...HUB, vault: OTHER } }), refused('it has another scope already'))
  await t.rejects(signer.bind({ ...SCOPE, feeMax: SCOPE.feeMax + 1n }), refused('it has another scope already'))
  t.ok(await signer.authorise(ROW))
})

t.test('several may ask, and whoever closes is answered no more', async (t) => {
  const worker = new Worker(SIGNER_THREAD, { workerData: { place: { kind: 'given', key: KEY } } })
  t.teardown(() => worker.terminate())
  const signers = [0, 1].map(() => {
    const { port1, port2 } = new MessageChannel()
    worker.postMessage({ type: 'port', port: port2 }, [port2])
    return createSigner(port1)
  })
  await signers[0]!.bind(SCOPE)
  t.equal(await signers[0]!.authorise(ROW), await signers[1]!.authorise(ROW), 'of one scope')
  signers[0]!.close()
  await t.rejects(signers[0]!.address(), { name: 'SignerUnavailable' })
  t.equal(await signers[1]!.address(), OWN)
  const waiting = signers[1]!.address()
  signers[1]!.close()
  await t.rejects(waiting.then(() => signers[1]!.address()), { name: 'SignerUnavailable' })
})

t.test('the key file: made once, for its owner alone', async (t) => {
  const path = join(directoryOf(t), 'vault.key')
  const made: VaultKeyPlace = { kind: 'file', path, make: true }
  const own = await (await signerOf(t, made)).address()
  t.equal(statSync(path).mode & 0o777, 0o600)
  const content = readFileSync(path, 'utf8')
  t.match(content, /^[0-9a-f]{64}\n$/)
  t.equal(privateKeyToAccount(`0x${content.trim()}`).address.toLowerCase(), own)
  t.equal(await (await signerOf(t, made)).address(), own)
  for (const mode of [0o640, 0o604, 0o660, 0o606]) {
    chmodSync(path, mode)
    const message = `others may read or change the key file ${path}; chmod 600 it`
    await t.rejects(startSigner(made), { message }, mode.toString(8))
  }
  chmodSync(path, 0o400)
  t.equal(await (await signerOf(t, made)).address(), own)
})

t.test('what is no key is refused, and not repeated', async (t) => {
  const path = join(directoryOf(t), 'vault.key')
  const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
  for (const wrong of ['', 'secret', KEY.slice(1), `${KEY}00`, '0'.repeat(64), order, `${KEY} ${KEY}`, 'x'.repeat(2_000)]) {
    writeFileSync(path, wrong, { mode: 0o600 })
    const error = await startSigner({ kind: 'file', path, make: true }).then(() => null, (error: Error) => error)
    t.ok(error instanceof Error)
    t.notOk(wrong !== '' && `${error!.message} ${error!.stack}`.includes(wrong), `not a word of it: ${error!.message}`)
    t.equal(readFileSync(path, 'utf8'), wrong, 'it stays')
  }
  await t.rejects(startSigner({ kind: 'file', path: `${path}.none`, make: false }), { message: `there is no key file ${path}.none` })
  t.notOk(existsSync(`${path}.none`))
  await t.rejects(startSigner({ kind: 'given', key: 'nonsense' }), { message: /^the vault's key in the environment must be 64 hex digits/ })
})

t.test('where the key is', async (t) => {
  const directory = directoryOf(t)
  const path = join(directory, 'key')
  writeFileSync(path, KEY, { mode: 0o600 })
  const config = (...argv: string[]): Config => readConfig(['--data-dir', directory, ...argv], {})!
  const outside = ['--chain-rpc-url', 'http://127.0.0.1:1', '--vault-address', VAULT, '--factory-address', FACTORY]
  t.same(takeVaultKey(config(), {}), { kind: 'file', path: join(directory, 'vault.key'), make: true })
  t.same(takeVaultKey(config('--vault-key-file', path), {}), { kind: 'file', path, make: false })
  t.same(takeVaultKey(config('--vault-signer-url', 'http://127.0.0.1:9/'), {}), { kind: 'remote', url: 'http://127.0.0.1:9/' })
  const environment = { RINGBOOK_VAULT_KEY: KEY, HOME: '/' }
  t.same(takeVaultKey(config(...outside), environment), { kind: 'given', key: KEY })
  t.same(environment, { HOME: '/' }, 'and is there no more')
  t.throws(() => takeVaultKey(config(...outside), {}), { name: 'ConfigError', message: /^--vault-address needs a key: / })
  t.throws(() => takeVaultKey(config('--vault-key-file', path), { RINGBOOK_VAULT_KEY: KEY }), { message: /configured twice/ })
  for (const none of [config('--vault', '0'), config('--chain', '0'), config('--chain-rpc-url', 'http://127.0.0.1:1')]) {
    const unused = { RINGBOOK_VAULT_KEY: KEY }
    t.equal(takeVaultKey(none, unused), null, 'no vault')
    t.same(unused, {})
  }
  const short = { RINGBOOK_VAULT_KEY: 'short-secret' }
  t.throws(() => takeVaultKey(config(), short), { name: 'ConfigError', message: 'RINGBOOK_VAULT_KEY: must be 64 hex digits' })
  t.same(short, {})
  t.throws(() => takeVaultKey(config('--vault-key-file', `${path}.none`), {}), { message: /no such file/ })
  chmodSync(path, 0o644)
  t.throws(() => takeVaultKey(config('--vault-key-file', path), {}), { name: 'ConfigError', message: /^--vault-key-file: others may read/ })
})
