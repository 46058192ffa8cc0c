/**
 * Promise: an application that the operator adds while the exchange runs is like one it began with. Wallets sign in to it as users of its
 * own, its backend reads them over both transports, it outlives a kill, and when it is no longer active nobody signs in any more.
 */
import t from 'tap'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { createClient, type Client } from '../../gateway/client/index.ts'
import { issueServerKey, operate, removeDirectory, startExchange, temporaryDirectory } from '../support/exchange.ts'
import { connectGrpc } from '../support/grpc.ts'
import { grpcTransport, type Json } from '../support/transports.ts'

t.setTimeout(900_000)

const directory = temporaryDirectory()
let exchange = await startExchange(directory, ['--gateways', '2'])
t.teardown(async () => {
  await exchange.kill()
  removeDirectory(directory)
})

const clientOf = (account: PrivateKeyAccount, clientId: string): Client => createClient({
  baseUrl: exchange.baseUrl, clientId, wallet: { address: account.address, signMessage: (message) => account.signMessage({ message }) },
})
const backendOf = (serverKey: string): Client => createClient({ baseUrl: exchange.baseUrl, serverKey })

const wallet = privateKeyToAccount(generatePrivateKey())
const added = await operate(exchange, '/applications', { clientId: 'desk', name: 'Desk ü', allowedOrigins: ['https://desk.example'] })
const serverKey = await issueServerKey(exchange, 'desk')

t.test('the operator adds it, and is told what is wrong with one that cannot be', async (t) => {
  t.match([added.status, added.json], [200, { clientId: 'desk', name: 'Desk ü', isActive: true, sequence: Number }])
  const add = (body: object): Promise<{ status: number; json: Record<string, unknown> }> => operate(exchange, '/applications', body)
  t.match(await add({ clientId: 'desk', name: 'Again' }), { status: 409, json: { code: 'CLIENT_ID_IN_USE' } })
  for (const [body, field] of [
    [{ name: 'x' }, 'clientId'], [{ clientId: 'with space', name: 'x' }, 'clientId'], [{ clientId: 'x'.repeat(41), name: 'x' }, 'clientId'],
    [{ clientId: 'x' }, 'name'], [{ clientId: 'x', name: ' ' }, 'name'], [{ clientId: 'x', name: 'ü'.repeat(25) }, 'name'],
    [{ clientId: 'x', name: 'line\nbreak' }, 'name'], [{ clientId: 'x', name: 'right\u202eto left' }, 'name'],
    [{ clientId: 'x', name: 'x', allowedOrigins: 'https://a.example' }, 'allowedOrigins'],
    [{ clientId: 'x', name: 'x', allowedOrigins: ['https://a.example/'] }, 'allowedOrigins'],
    [{ clientId: 'x', name: 'x', allowedOrigins: ['https://A.example'] }, 'allowedOrigins'],
    [{ clientId: 'x', name: 'x', allowedOrigins: ['a.example'] }, 'allowedOrigins'],
    [{ clientId: 'x', name: 'x', allowedOrigins: Array.from({ length: 17 }, (_, i) => `https://a${i}.example`) }, 'allowedOrigins'],
  ] as const) t.match(await add(body), { status: 400, json: { details: { field } } }, JSON.stringify(body))
  t.match(await operate(exchange, '/keys/issue', { application: 'nobody' }), { status: 404, json: { details: { field: 'application' } } })
  const graceless = await operate(exchange, '/keys/issue', { application: 'desk', graceSeconds: 400 * 86_400 })
  t.match(graceless, { status: 400, json: { details: { field: 'graceSeconds' } } })
})

t.test('a wallet is a user of its own there, and the text it signs names the application', async (t) => {
  let signed = ''
  const account = { address: wallet.address, signMessage: (message: string) => wallet.signMessage({ message: (signed = message) }) }
  const client = createClient({ baseUrl: exchange.baseUrl, clientId: 'desk', wallet: account })
  t.match(await client.signIn(), { isNewUser: true })
  t.match(signed, /^Application: Desk ü$/m)
  await client.Mint()
  const elsewhere = clientOf(wallet, 'ringbook')
  t.match(await elsewhere.signIn(), { isNewUser: true })
  t.not((await client.GetProfile()).id, (await elsewhere.GetProfile()).id)
})

t.test('its backend reads it over both transports, before and after a kill', async (t) => {
  const look = async (): Promise<[config: Json, users: Json, balances: Json]> => {
    const backend = backendOf(serverKey)
    const rest: [Json, Json, Json] =
      [await backend.GetApplicationConfig(), await backend.ListApplicationUsers(), await backend.ListApplicationBalances()]
    const client = connectGrpc(exchange.grpcPort)
    const grpc = grpcTransport(client, serverKey)
    const users: Json = await grpc('ListApplicationUsers', {}, null)
    client.close()
    t.same(users['users'].map(({ id }: Json) => id), rest[1]['users'].map(({ id }: Json) => id), 'gRPC says the same')
    return rest
  }
  const before = await look()
  t.match(before, [
    { id: added.json['id'], clientId: 'desk', name: 'Desk ü', allowedOrigins: ['https://desk.example'], isActive: true, createdAt: String },
    { users: [{ address: wallet.address, accountType: 'master' }], total: 1, totalPages: 1 },
    { total: 4 },
  ])
  await exchange.kill()
  exchange = await startExchange(directory, ['--gateways', '2'])
  t.same(await look(), before)
})

t.test('filters and pages', async (t) => {
  const backend = backendOf(serverKey)
  const master = clientOf(wallet, 'desk')
  await master.signIn()
  const wallets = Array.from({ length: 3 }, () => privateKeyToAccount(generatePrivateKey()))
  for (const each of wallets) {
    await master.CreateSubAccount(await clientOf(each, 'desk').consentTo(wallet.address, master.signer!.publicKey))
  }
  const subs = wallets.map(({ address }) => address)
  const page = async (input: Parameters<Client['ListApplicationUsers']>[0]): Promise<string[]> =>
    (await backend.ListApplicationUsers(input)).users.map(({ address }) => address)
  t.same(await page({}), [wallet.address, ...subs], 'in the order they were made')
  t.same(await page({ accountType: 'sub' }), subs)
  t.same(await page({ accountType: 'master' }), [wallet.address])
  t.same(await page({ isActive: true }), [wallet.address, ...subs])
  t.same(await page({ isActive: false }), [])
  t.same(await page({ address: subs[1]!.slice(10, 30).toUpperCase() }), [subs[1]])
  t.same(await page({ address: '0x' }), [wallet.address, ...subs])
  t.same(await page({ address: 'zz' }), [])
  t.same([await page({ pageSize: 3 }), await page({ pageSize: 3, page: 2 }), await page({ pageSize: 3, page: 3 })],
    [[wallet.address, ...subs.slice(0, 2)], subs.slice(2), []])
  t.match(await backend.ListApplicationUsers({ pageSize: 3, page: 10_000 }), { page: 10_000, total: 4, totalPages: 2 })
  await t.rejects(backend.ListApplicationUsers({ page: 10_001 }), { status: 400, code: 'VALIDATION_ERROR' })
  await t.rejects(backend.ListApplicationUsers({ pageSize: 101 }), { status: 400, code: 'VALIDATION_ERROR' })
  const { balances } = await backend.ListApplicationBalances({ pageSize: 1, page: 2 })
  t.equal(balances.length, 1)
  const { token } = balances[0]!
  t.match(await backend.ListApplicationBalances({ token: token.toUpperCase().replace('0X', '0x') }), { total: 1, balances: [{ token }] })
  t.match(await backend.ListApplicationBalances({ token: '0x00' }), { total: 0, balances: [] })
})

t.test('inactive: nobody signs in, who is in stays, and the backend goes on', async (t) => {
  const inside = clientOf(wallet, 'desk')
  await inside.signIn()
  const set = await operate(exchange, '/applications/set', { application: 'desk', isActive: false })
  t.match(set, { status: 200, json: { isActive: false } })
  await t.rejects(clientOf(wallet, 'desk').signIn(), { status: 403, code: 'APPLICATION_INACTIVE' })
  t.equal((await inside.GetProfile()).address, wallet.address)
  t.ok((await inside.Refresh()).expiresAt > 0)
  t.match(await backendOf(serverKey).GetApplicationConfig(), { isActive: false })
  await operate(exchange, '/applications/set', { application: added.json['id'], isActive: true, clientId: 'desk-2' })
  await t.rejects(clientOf(wallet, 'desk').signIn(), { status: 404, code: 'NOT_FOUND' }, 'under another name now')
  t.match(await clientOf(wallet, 'desk-2').signIn(), { isNewUser: false })
})
