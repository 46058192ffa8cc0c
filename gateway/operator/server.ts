/**
 * The operator thread: metrics, probes and what an operator can change, on a port of its own, on loopback only.
 *
 * Every route is declared in the file of its area (route.ts, routes.ts), and nothing else is served; `GET
 * /openapi.json` describes them. What changes something, and what shows users or applications, needs the operator's
 * token in x-operator-token (access.ts).
 *
 * `npm run operator` (main.ts) puts it on the command line.
 *
 * Web pages are kept out: a foreign Host (DNS rebinding), any Origin, and bodies that are not JSON (which a page cannot
 * send unasked) are refused.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import { settingOf } from '../../core/config.ts'
import { parseGenesis } from '../../core/state/genesis.ts'
import { REFUSALS } from '../../core/layout/refusals.ts'
import { attachState } from '../../core/state/state.ts'
import { sequencedClock } from '../../core/ring/clock.ts'
import { matcherCounters } from '../../core/ring/counters.ts'
import { OPERATOR_CONNECTIONS, portBlock } from '../../core/ring/ports.ts'
import { EXIT, type FromThread, type OperatorData, type ToOperator } from '../../core/threads.ts'
import { Applications } from '../../core/view/applications.ts'
import { doorOf, listenOn, PORT_TAKEN, type Door } from '../limits/door.ts'
import { admitTo, timeLimits } from '../limits/http_port.ts'
import { ConnectionPort } from '../limits/port.ts'
import { readProxies } from '../limits/shares.ts'
import { isToken, TOKEN_HEADER } from './access.ts'
import { createAdmin } from './admin.ts'
import { AuditStop } from './audit.ts'
import { createFeeder } from './feed/feeder.ts'
import { readSources, type PairSources } from './feed/sources.ts'
import { refuse, refused, respond, type Answer } from './http.ts'
import { gaugesOf, lookAtGrowth } from './metrics.ts'
import type { OperatorContext } from './route.ts'
import { DECLARED } from './routes.ts'
import { servedBy } from './serve.ts'
import { createTierQueue } from './tiers.ts'
import { createVaultDesk } from './vault_desk.ts'

/** How often growth is looked at without a scrape, ms. */
const GROWTH_MS = 10_000
const REQUEST_TIMEOUT_MS = 5_000
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i

const { config, shared, genesis, token } = workerData as OperatorData
const post = (message: FromThread): void => parentPort!.postMessage(message)
const state = attachState(parseGenesis(genesis), shared.columns)
const admin = createAdmin(shared.lanes[0]!, shared.matcherWait)
const gate = new Int32Array(shared.gate)
const applications = new Applications(state, gate)
const time = sequencedClock(matcherCounters(shared.counters))
const tiers = createTierQueue(admin, post)
const vault = createVaultDesk(admin)
const audits = new AuditStop(state, admin, post)
const feeder = createFeeder({ state, gate, admin, time, tell: post, sources: sourcesOf() }, config.priceFeed === 1)
holdIndexSources()
tellIndexMakers()
const gauges = gaugesOf(shared, state, { tiers, vault }, config.dataDir, Date.now(), feeder.pairs)
setInterval(() => lookAtGrowth(gauges), GROWTH_MS).unref()
const context: OperatorContext = { state, gate, applications, admin, time, gauges, audits, vault, tell: post }
const paths = servedBy(DECLARED, context)

/**
 * Refuses a start in which traders would make the index of real money: whoever trades in the own book moves that index. Users bring real
 * money where the vault is on an outside chain or the faucet gives nothing.
 */
function holdIndexSources(): void {
  if (config.priceFeed === 0 || feeder.pairs.length === 0) return
  const own = feeder.pairs.filter(({ of }) => of === null).map(({ symbol }) => symbol)
  const isReal = config.vaultAddress !== '' || state.genesis.faucetDailyLimit === 0
  if (own.length > 0 && isReal && config.ownBookIndex === 0) {
    const message = `the spot book of this exchange would make the index price of ${own.join(', ')}, and deposits are real: name sources `
      + `(${settingOf('priceSources')}), leave prices to the operator (${settingOf('priceFeed')}), or accept it `
      + `(${settingOf('ownBookIndex')} 1)`
    return post({ type: 'fatal', code: EXIT.CONFIG, message })
  }
  if (own.length > 0 && isReal) {
    post({ type: 'log', level: 'warn', message: 'the spot book of this exchange makes index prices of real money', fields: { pairs: own } })
  }
}

/** Says what makes the index of each perpetual. */
function tellIndexMakers(): void {
  if (feeder.pairs.length === 0) return
  const fields = Object.fromEntries(feeder.pairs.map(({ symbol, maker }) => [symbol, maker]))
  post({ type: 'log', level: 'info', message: 'what makes the index price of each perpetual', fields })
}

/** Of the file of --price-sources; one that is wrong ends the exchange. */
function sourcesOf(): PairSources[] {
  const { priceSources, priceFeed } = config
  if (priceSources === '' || priceFeed === 0) return []
  const symbols = state.genesis.pairs.filter(({ perp }) => perp !== null).map(({ symbol }) => symbol)
  try {
    return readSources(readFileSync(priceSources, 'utf8'), symbols)
  } catch (error) {
    post({ type: 'fatal', code: EXIT.CONFIG, message: `${priceSources}: ${(error as Error).message} (${settingOf('priceSources')})` })
    return []
  }
}

function withoutToken(): Answer {
  const message = `The operator's token is needed in the header ${TOKEN_HEADER}; it is in ${token.said}`
  return { ...refused({ ...REFUSALS.UNAUTHENTICATED, message }), headers: { Connection: 'close' } }
}

async function route(request: IncomingMessage): Promise<Answer> {
  if (!LOOPBACK_HOST.test(request.headers.host ?? '')) return refuse('MALFORMED_REQUEST', { field: 'Host' })
  if (request.headers.origin !== undefined) return refuse('MALFORMED_REQUEST', { field: 'Origin' })
  const found = paths.get(request.url!.split('?', 1)[0]!)
  if (found === undefined) return refuse('ROUTE_NOT_FOUND')
  const { method } = request
  const served = method === 'GET' || method === 'HEAD' ? found.GET : method === 'POST' ? found.POST : undefined
  if (served !== undefined) {
    const known = !served.token || isToken(request.headers[TOKEN_HEADER], token.token)
    return known ? served.handle(request) : withoutToken()
  }
  const allowed = [...(found.GET === undefined ? [] : ['GET', 'HEAD']), ...(found.POST === undefined ? [] : ['POST'])]
  return { ...refuse('METHOD_NOT_ALLOWED'), headers: { Allow: allowed.join(', ') } }
}

const failed = (error: unknown): void =>
  post({ type: 'log', level: 'error', message: 'operator request failed', fields: { error: (error as Error).message } })

const server = createServer(timeLimits(REQUEST_TIMEOUT_MS), (request, response) => void respond(request, response, route, failed))
const port = new ConnectionPort(
  OPERATOR_CONNECTIONS, config.firstRequestSeconds * 1000, readProxies(config), portBlock(shared.ports, 0, 'operator'),
)
admitTo(server, port)

function stop(): void {
  door?.end()
  tiers.stop()
  feeder.stop()
  audits.stop()
  vault.stop()
  admin.stop()
  server.close(() => {
    post({ type: 'stopped' })
    parentPort!.close()
  })
  server.closeAllConnections()
  port.close()
}

let door: Door | null = null
listenOn(server, '127.0.0.1', config.operatorPort).then(
  (number) => {
    door = doorOf(server, '127.0.0.1', number, () => post({ type: 'log', level: 'error', message: PORT_TAKEN, fields: { port: number } }))
    post({ type: 'ready', port: number })
  },
  ({ message }: Error) =>
    post({ type: 'fatal', code: EXIT.CONFIG, message: `operator port: ${message} (${settingOf('operatorPort')})` }),
)
parentPort!.on('message', (message: ToOperator) => {
  if (message.type === 'stop') stop()
  else if (message.type === 'listen') door?.want(message.open)
  else if (message.type === 'vault') vault.take(message.port)
  else if (message.type === 'tiers') tiers.take(message.changes)
  else if (message.type === 'audit') audits.take(message)
})
