/**
 * Promise: a remote signer is asked in the words of clef and web3signer, and what it signs counts only when it is what was asked for, by
 * the one account that it holds.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { recoverTypedDataAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createKeyHolder } from '../../gateway/chain/vault/key_holder.ts'
import { createRemoteSigner } from '../../gateway/chain/vault/remote_signer.ts'
import { scopeOf } from '../../gateway/chain/vault/deploy.ts'
import { startSigner } from '../../gateway/chain/vault/signer.ts'
import { withdrawalTypedData } from '../../gateway/chain/vault/typed_data.ts'
import type { Authorisation, Hex, Places, Unsigned } from '../../gateway/chain/vault/types.ts'

t.setTimeout(120_000)

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const other = privateKeyToAccount(`0x${'22'.repeat(32)}`)
const OWN = account.address.toLowerCase() as Hex
const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const HUB: Places = { chainId: 1328, vault: address('a1'), factory: address('a2') }
const ROW: Authorisation = { token: address('a3'), amount: 2n ** 200n, destination: address('a4'), nonce: 4711n, deadline: 1_900_000_000n }
const CALL: Unsigned = {
  chainId: 1328, nonce: 0, to: HUB.vault, data: '0x8456cb59', gas: 90_000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 0n,
}
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

type Answers = Record<string, (params: any[]) => unknown>

/** What a right signer does. */
const RIGHT: Answers = {
  eth_accounts: () => [account.address],
  eth_signTypedData_v4: ([, { domain, types, primaryType, message }]) =>
    account.signTypedData({ domain, types, primaryType, message } as never),
  eth_signTransaction: ([transaction]) => account.signTransaction(fieldsOf(transaction)),
}
const fieldsOf = ({ to, data, chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, value }: Record<string, string>): any => ({
  type: 'eip1559', to, data, chainId: Number(chainId), nonce: Number(nonce), gas: BigInt(gas!), value: BigInt(value!),
  maxFeePerGas: BigInt(maxFeePerGas!), maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas!),
})

async function startRemote(t: Test): Promise<{ url: string; answers: Answers; asked: string[] }> {
  const remote = { url: '', answers: { ...RIGHT }, asked: [] as string[] }
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', async () => {
      const { id, method, params } = JSON.parse(Buffer.concat(pieces).toString('utf8'))
      remote.asked.push(method)
      const answer = remote.answers[method]
      const said = answer === undefined ? { error: { code: -32601, message: 'no' } } : { result: await answer(params) }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  remote.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return remote
}

const unavailable = { name: 'ChainUnavailable' }
const holder = createKeyHolder(`0x${'11'.repeat(32)}`)

t.test('what it signs is what a key here would have signed', async (t) => {
  const { url, asked, answers } = await startRemote(t)
  const signer = createRemoteSigner(url, 5_000)
  t.equal(await signer.address(), OWN)
  t.equal(await signer.authorise(HUB, ROW), await holder.authorise(HUB, ROW))
  t.same(await signer.sign(CALL), await holder.sign(CALL))
  t.equal(asked.filter((method) => method === 'eth_accounts').length, 1)
  const raw = (await holder.sign(CALL)).raw
  answers['eth_signTransaction'] = () => ({ raw, tx: {} })
  t.same(await signer.sign(CALL), { raw, hash: (await holder.sign(CALL)).hash }, 'in the form of clef')
})

t.test('signatures come into the form that the vault takes', async (t) => {
  const { url, answers } = await startRemote(t)
  const signer = createRemoteSigner(url, 5_000)
  const good = await holder.authorise(HUB, ROW)
  const parts = [good.slice(2, 66), BigInt(`0x${good.slice(66, 130)}`), Number(`0x${good.slice(130)}`)] as const
  const form = (s: bigint, v: number): string => `0x${parts[0]}${s.toString(16).padStart(64, '0')}${v.toString(16).padStart(2, '0')}`
  for (const [what, said] of [
    ['v from 0', form(parts[1], parts[2] - 27)], ['high s', form(N - parts[1], 55 - parts[2])], ['both', form(N - parts[1], 28 - parts[2])],
  ] as const) {
    answers['eth_signTypedData_v4'] = () => said
    const signature = await signer.authorise(HUB, ROW)
    t.equal(signature, good, what)
    t.equal((await recoverTypedDataAddress({ ...withdrawalTypedData(HUB, ROW), signature } as never)).toLowerCase(), OWN)
  }
})

t.test('what is something else is no answer', async (t) => {
  const { url, answers } = await startRemote(t)
  const signer = createRemoteSigner(url, 5_000)
  await signer.address()
  const typed: [string, (params: any[]) => unknown][] = [
    ['another key', ([, data]) => other.signTypedData(data)],
    ['another amount', ([, data]) => account.signTypedData({ ...data, message: { ...data.message, amount: '1' } })],
    ['another vault', ([, data]) => account.signTypedData({ ...data, domain: { ...data.domain, verifyingContract: address('b1') } })],
    ['another chain', ([, data]) => account.signTypedData({ ...data, domain: { ...data.domain, chainId: 1 } })],
    ['no signature', () => '0x'], ['zeros', () => `0x${'00'.repeat(65)}`], ['null', () => null],
  ]
  for (const [what, answer] of typed) {
    answers['eth_signTypedData_v4'] = answer
    await t.rejects(signer.authorise(HUB, ROW), unavailable, `an authorisation: ${what}`)
  }
  const changed = (over: object) => ([transaction]: any[]): unknown => account.signTransaction({ ...fieldsOf(transaction), ...over })
  const transactions: [string, (params: any[]) => unknown][] = [
    ['another key', ([transaction]) => other.signTransaction(fieldsOf(transaction))],
    ['another nonce', changed({ nonce: 1 })], ['another place', changed({ to: address('b1') })], ['a value', changed({ value: 1n })],
    ['other data', changed({ data: '0x' })], ['more gas', changed({ gas: 1_000_000n })], ['a higher fee', changed({ maxFeePerGas: 10n })],
    ['a higher tip', changed({ maxPriorityFeePerGas: 1n })], ['another chain', changed({ chainId: 1 })],
    ['a list of accesses', changed({ accessList: [{ address: address('b1'), storageKeys: [] }] })],
    ['an old form', ([{ to, data }]) =>
      account.signTransaction({ type: 'legacy', chainId: 1328, nonce: 0, to, data, gas: CALL.gas, gasPrice: 9n })],
    ['no transaction', () => '0x02'], ['null', () => null], ['an object without any', () => ({})],
  ]
  for (const [what, answer] of transactions) {
    answers['eth_signTransaction'] = answer
    await t.rejects(signer.sign(CALL), unavailable, `a transaction: ${what}`)
  }
})

t.test('it holds one account, and answers', async (t) => {
  const { url, answers } = await startRemote(t)
  for (const said of [[], [OWN, other.address], null, ['0x12']]) {
    answers['eth_accounts'] = () => said
    await t.rejects(createRemoteSigner(url, 5_000).address(), unavailable, JSON.stringify(said))
  }
  delete answers['eth_accounts']
  await t.rejects(createRemoteSigner(url, 5_000).address(), { message: 'the remote signer refuses eth_accounts' })
  answers['eth_accounts'] = () => new Promise(() => undefined)
  await t.rejects(createRemoteSigner(url, 50).address(), { message: /^the remote signer does not answer: / })
  await t.rejects(createRemoteSigner('http://127.0.0.1:1/', 5_000).address(), unavailable)
})

t.test('behind the signer thread, with its scope', async (t) => {
  const remote = await startRemote(t)
  const { signer, end } = await startSigner({ kind: 'remote', url: remote.url })
  t.teardown(end)
  t.equal(await signer.address(), OWN)
  await signer.bind(scopeOf(HUB, { tokens: [ROW.token], deploys: false, feePerGasMax: 10n ** 9n }))
  t.equal(await signer.authorise(ROW), await holder.authorise(HUB, ROW))
  const before = remote.asked.length
  await t.rejects(signer.authorise({ ...ROW, token: address('b1') }), { name: 'SignerRefused' })
  await t.rejects(signer.sign({ ...CALL, data: '0x' }), { name: 'SignerRefused' })
  t.equal(remote.asked.length, before, 'what is refused is not asked for')
  remote.answers['eth_signTypedData_v4'] = () => '0x'
  const error = await signer.authorise(ROW).catch((error: Error) => error)
  t.match(error, { name: 'SignerUnavailable' })
  t.notOk(String((error as Error).message).includes('secret'))
})
