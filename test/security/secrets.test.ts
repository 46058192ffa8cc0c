/**
 * Promise: secrets stay secret. A run with sign-ins, wrong signatures, server keys, rotations and wrong tokens, at the most talkative log
 * level, leaves none of them in what the exchange writes: not in its output, and in its data directory only hashes (and the operator's
 * token and the vault's key, each in its own file).
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createClient, createSigner, signRequest } from '../../gateway/client/index.ts'
import { authMessage, SocketClient } from '../support/sockets.ts'
import { newTrader } from '../support/traders.ts'
import { issueServerKey, operate, removeDirectory, startExchange, temporaryDirectory, type Exchange } from '../support/exchange.ts'

t.setTimeout(600_000)

/** What must not be found: by name, as it was sent. */
const secrets = new Map<string, string>()

const post = (url: string, headers: Record<string, string>, body: string): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body })

/** A sign-in whose nonce and signatures are kept, then requests with right and wrong signatures. */
async function trade(t: Test, { baseUrl }: Exchange): Promise<void> {
  const account = privateKeyToAccount(generatePrivateKey())
  const signer = createSigner()
  const signMessage = async (message: string): Promise<string> => {
    const signature = await account.signMessage({ message })
    secrets.set('wallet signature', signature.slice(2))
    secrets.set('nonce', /Nonce: ([0-9a-f]{64})/.exec(message)![1]!)
    return signature
  }
  const client = createClient({ baseUrl, signer, wallet: { address: account.address, signMessage } })
  await client.signIn()
  await client.Mint()
  for (const [name, status, spoil] of [['right', 200, ''], ['wrong', 401, 'x']] as const) {
    const body = JSON.stringify({ assetId: (await client.ListBalances()).balances[0]!.assetId })
    const headers = signRequest(signer, 'POST', '/api/v1/faucet/mint', Buffer.from(body + spoil), Date.now())
    secrets.set(`${name} session signature`, headers['X-Svc-Signature'])
    t.equal((await post(`${baseUrl}/api/v1/faucet/mint`, { ...headers }, body)).status, status, `${name} signature`)
  }
  const note = 'a body that nobody logs'
  secrets.set('body', note)
  const headers = signRequest(signer, 'POST', '/api/v1/orders', Buffer.from(`{"note":"${note}"}`), Date.now())
  t.equal((await post(`${baseUrl}/api/v1/orders`, { ...headers }, `{"note":"${note}"}`)).status, 400)
}

/** The same over a socket: a right signature, a wrong one, a message that is none. */
async function listen(t: Test, { baseUrl, port }: Exchange): Promise<void> {
  const { signer } = await newTrader(baseUrl, 0)
  for (const [name, at] of [['right', Date.now()], ['wrong', Date.now() - 60_000]] as const) {
    const client = await SocketClient.open(port)
    const message = authMessage(signer, String(at))
    secrets.set(`${name} socket signature`, message['signature'])
    client.send(message)
    t.ok(await client.next(({ type }) => type === (name === 'right' ? 'authenticated' : 'error')))
    const note = `a ${name} message that nobody logs`
    secrets.set(note, note)
    client.send({ type: 'subscribe', channel: note, params: { note } })
    client.close()
  }
}

async function rotateKeys(t: Test, exchange: Exchange): Promise<void> {
  const config = (key: string): Promise<Response> =>
    fetch(`${exchange.baseUrl}/api/v1/applications/config`, { headers: { 'x-server-key': key } })
  for (const name of ['first', 'second']) {
    const key = await issueServerKey(exchange)
    secrets.set(`${name} server key`, key)
    t.equal((await config(key)).status, 200)
  }
  const guessed = `sk_${'guess'.repeat(8)}abc`
  secrets.set('guessed server key', guessed)
  t.equal((await config(guessed)).status, 401)
  await operate(exchange, '/keys/revoke', { application: 'ringbook' })
  t.equal((await config(secrets.get('second server key')!)).status, 401)
}

async function guessTokens(t: Test, { operatorPort }: Exchange): Promise<void> {
  for (const [path, body] of [['/maintenance', '{"on":true}'], ['/keys/issue', '{"application":"ringbook"}']] as const) {
    const guess = `guess-of-a-token-for${path.replaceAll('/', '-')}`
    secrets.set(`guessed token for ${path}`, guess)
    t.equal((await post(`http://127.0.0.1:${operatorPort}${path}`, { 'x-operator-token': guess }, body)).status, 401)
  }
}

const filesUnder = (directory: string): string[] => {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return names.map((name) => join(directory, name)).filter((path) => statSync(path).isFile())
}

/** Waits until the vault is set up, which takes its key: all that the signer signs is on the chain by then. */
async function setUpVault(t: Test, directory: string, { output }: Exchange): Promise<void> {
  for (let i = 0; i < 1_200 && !output.join('').includes('the vault lists'); i++) await new Promise((resolve) => setTimeout(resolve, 100))
  t.ok(output.join('').includes('the vault lists'), 'the signer signed')
  secrets.set('vault key', readFileSync(join(directory, 'vault.key'), 'utf8').trim())
}

/** The files that hold these secrets, and nobody but their owner reads. */
const OWN_FILES: Readonly<Record<string, string>> = { 'operator token': 'operator.token', 'vault key': 'vault.key' }

/** A secret as text and, where it stands for bytes, as those. */
function forms(secret: string): Buffer[] {
  const forms = [Buffer.from(secret)]
  if (/^[0-9a-f]{64,}$/.test(secret)) forms.push(Buffer.from(secret, 'hex'))
  if (/^sk_.{43}$/.test(secret)) forms.push(Buffer.from(secret.slice(3)), Buffer.from(secret.slice(3), 'base64url'))
  return forms
}

t.test('a talkative exchange says no secret and keeps none', async (t) => {
  const directory = temporaryDirectory()
  const exchange = await startExchange(directory, ['--log-level', 'trace', '--snapshot-every', '5', '--vault', '1'])
  t.teardown(async () => {
    await exchange.kill()
    removeDirectory(directory)
  })
  await trade(t, exchange)
  await listen(t, exchange)
  await rotateKeys(t, exchange)
  await guessTokens(t, exchange)
  secrets.set('operator token', exchange.operatorToken)
  await setUpVault(t, directory, exchange)
  t.equal(await exchange.stop(), 0)

  const output = exchange.output.join('')
  t.ok(output.includes('server key issued'), 'the log was read')
  for (const [name, secret] of secrets) t.notOk(output.includes(secret), `${name} in the output`)

  const files = filesUnder(directory)
  const found: string[] = []
  let hashes = 0
  const hash = createHash('sha256').update(secrets.get('first server key')!).digest()
  for (const path of files) {
    const bytes = readFileSync(path)
    const name = relative(directory, path)
    if (bytes.includes(hash)) hashes++
    for (const [what, secret] of secrets) {
      if (OWN_FILES[what] !== name && forms(secret).some((form) => bytes.includes(form))) found.push(`${what} in ${name}`)
    }
  }
  t.same(found, [])
  t.ok(hashes > 0, 'the hash of a server key is in the journal: the search finds what is there')
  for (const name of Object.values(OWN_FILES)) t.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name)
})
