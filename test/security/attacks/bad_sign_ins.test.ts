/**
 * Promise: whoever asks for nothing but failing sign-ins, as fast as the connections allow, keeps nobody from trading. Each of the
 * answers to them is a named refusal.
 */
import t from 'tap'
import { besideAttack } from '../../support/attack.ts'
import { removeDirectory, startExchange, temporaryDirectory } from '../../support/exchange.ts'
import { fetchFrom } from '../../support/fetch_from.ts'

t.setTimeout(600_000)
/** Connections of the attacker. */
const CONNECTIONS = 16

t.test('a flood of bad sign-ins beside an honest trader', async (t) => {
  const dataDir = temporaryDirectory()
  const exchange = await startExchange(dataDir, ['--chain', '0'])
  const attacker = fetchFrom('127.0.0.2', CONNECTIONS)
  t.teardown(async () => {
    attacker.close()
    await exchange.kill()
    removeDirectory(dataDir)
  })
  const codes: Record<string, number> = {}
  let asked = 1
  const one = async (): Promise<void> => {
    const number = (asked++).toString(16).padStart(8, '0')
    const [address, sessionPublicKey] = [`0x${number.repeat(5)}`, number.repeat(8)]
    const body = JSON.stringify({ address, sessionPublicKey, nonce: '00'.repeat(32), signature: `0x${'11'.repeat(65)}` })
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'attack' }
    const response = await attacker.fetch(`${exchange.baseUrl}/api/v1/auth/verify`, { method: 'POST', headers, body })
    const { error, code } = (await response.json()) as { error: string; code: string }
    const said = `${response.status} ${error} ${code}`
    codes[said] = (codes[said] ?? 0) + 1
  }
  const { attacked } = await besideAttack(t, exchange, {
    name: 'bad sign-ins',
    attack: async (ended) => {
      const loop = async (): Promise<void> => {
        while (!ended.aborted) await one()
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, loop))
    },
  })
  t.same(attacked.refused, {}, 'nobody who trades is refused')
  t.equal(attacked.done, attacked.requests)
  t.comment(JSON.stringify(codes))
  // A pause of the machine inside a request without a signature is taken from what all of them share: then there is nothing left for some.
  const named = /^(4\d\d (UNAUTHENTICATED|RATE_LIMIT_EXCEEDED) \w+|503 UNAVAILABLE OVERLOADED)$/
  t.same(Object.keys(codes).filter((said) => !named.test(said)), [])
  t.ok(Object.values(codes).reduce((sum, count) => sum + count, 0) > CONNECTIONS, 'it was asked')
})
