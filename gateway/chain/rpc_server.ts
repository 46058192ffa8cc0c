/**
 * The JSON-RPC 2.0 server of the embedded chain: HTTP POST on loopback. Bodies, batches, waiting requests, answers and the
 * time of one request are bounded; requests are worked on one after the other, in the order in which they came.
 *
 * Web pages are kept out as from the operator's port: a foreign Host (DNS rebinding), any Origin, and bodies that are not JSON.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Devnet } from './devnet.ts'
import { timeLimits } from '../limits/http_port.ts'
import { oneByOne } from '../one_by_one.ts'
import { RPC, RpcError } from './errors.ts'
import { METHODS } from './methods.ts'

export const BODY_BYTES_MAX = 2 << 20
export const BATCH_MAX = 100
/** Sum of the results of one request, bytes of JSON. */
export const ANSWER_BYTES_MAX = 16 << 20
/** Requests that wait for those before them. */
const WAITING_MAX = 1_024
/** Time for all contract executions of one request, ms. */
const WORK_MS = 5_000
const REQUEST_TIMEOUT_MS = 10_000
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i
const JSON_TYPE = /^application\/json\s*(;|$)/i

type Id = string | number | null
type Reply = { jsonrpc: '2.0'; id: Id } & ({ result: unknown } | { error: { code: number; message: string; data?: string } })

/**
 * A server, not listening yet, over the chain that `chain` comes to; when it fails every method is refused. `failed` hears of
 * errors that are none of the client's. Whoever else works on the chain does so in the queue `afterOthers`.
 */
export function createRpcServer(chain: Promise<Devnet>, failed: (error: Error) => void, afterOthers = oneByOne()): Server {
  let waiting = 0

  /** Runs `work` after everything before it. */
  function inTurn(work: () => Promise<string>): Promise<string> {
    if (waiting >= WAITING_MAX) return Promise.resolve(JSON.stringify(refusal(null, new RpcError(RPC.LIMIT, 'too many requests'))))
    waiting++
    return afterOthers(() => work().finally(() => waiting--))
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = refusedAtTheDoor(request)
    if (refused !== 0) return void response.writeHead(refused, { Connection: 'close' }).end()
    const body = await readBody(request)
    if (body === null) return void response.writeHead(413, { Connection: 'close' }).end()
    const said = Buffer.from(await inTurn(() => answerBody(chain, body, failed, () => response.destroyed)))
    // Only notifications: JSON-RPC answers nothing.
    if (said.length === 0) return void response.writeHead(204).end()
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': said.length, 'Cache-Control': 'no-store' }).end(said)
  }

  const server = createServer(timeLimits(REQUEST_TIMEOUT_MS), (request, response) => {
    answer(request, response).catch((error: Error) => {
      if (request.destroyed && !request.complete) return
      failed(error)
      response.destroy()
    })
  })
  return server
}

/** HTTP status with which a request is refused before it is read; 0: it is not. */
function refusedAtTheDoor({ headers, method }: IncomingMessage): number {
  if (!LOOPBACK_HOST.test(headers.host ?? '') || headers.origin !== undefined) return 403
  if (method !== 'POST') return 405
  return JSON_TYPE.test(headers['content-type'] ?? '') ? 0 : 415
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > BODY_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function refusal(id: Id, { code, message, data }: RpcError): Reply {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}

/** The text to answer a body with; empty when nothing is to be answered. `gone`: nobody reads it any more. */
async function answerBody(
  chain: Promise<Devnet>, body: string, failed: (error: Error) => void, gone: () => boolean,
): Promise<string> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return JSON.stringify(refusal(null, new RpcError(RPC.PARSE, 'parse error')))
  }
  const end = performance.now() + WORK_MS
  if (!Array.isArray(parsed)) return (await answerOne(chain, parsed, end, failed)) ?? ''
  if (parsed.length === 0) return JSON.stringify(refusal(null, new RpcError(RPC.INVALID_REQUEST, 'empty batch')))
  if (parsed.length > BATCH_MAX) {
    return JSON.stringify(refusal(null, new RpcError(RPC.LIMIT, `batch too large: at most ${BATCH_MAX} calls`)))
  }
  const replies: string[] = []
  let length = 0
  for (const call of parsed) {
    if (gone()) return ''
    const reply = await answerOne(chain, call, end, failed)
    if (reply === null) continue
    length += reply.length
    const id = idOf(call)
    replies.push(length > ANSWER_BYTES_MAX ? JSON.stringify(refusal(id, new RpcError(RPC.LIMIT, 'answer too large'))) : reply)
    if (length > ANSWER_BYTES_MAX) length -= reply.length
  }
  return replies.length === 0 ? '' : `[${replies.join(',')}]`
}

function idOf(call: unknown): Id {
  const id = typeof call === 'object' && call !== null ? (call as { id?: unknown }).id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** The reply to one call as JSON; `null` to a notification. */
async function answerOne(chain: Promise<Devnet>, call: unknown, end: number, failed: (error: Error) => void): Promise<string | null> {
  const id = idOf(call)
  const notification = typeof call === 'object' && call !== null && !Array.isArray(call) && !Object.hasOwn(call, 'id')
  let reply: Reply
  try {
    reply = { jsonrpc: '2.0', id, result: await run(chain, call, end) }
  } catch (error) {
    if (!(error instanceof RpcError)) failed(error as Error)
    reply = refusal(id, error instanceof RpcError ? error : new RpcError(RPC.INTERNAL, 'internal error'))
  }
  return notification ? null : JSON.stringify(reply)
}

async function run(chain: Promise<Devnet>, call: unknown, end: number): Promise<unknown> {
  const { jsonrpc, method, params = [] } = (typeof call === 'object' && call !== null ? call : {}) as Record<string, unknown>
  if (jsonrpc !== '2.0' || typeof method !== 'string') throw new RpcError(RPC.INVALID_REQUEST, 'invalid request')
  if (!Object.hasOwn(METHODS, method)) throw new RpcError(RPC.METHOD_NOT_FOUND, `the method ${method.slice(0, 64)} does not exist`)
  if (!Array.isArray(params)) throw new RpcError(RPC.INVALID_PARAMS, 'params must be an array')
  const opened = await chain.catch(() => {
    throw new RpcError(RPC.UNAVAILABLE, 'the chain is not available')
  })
  return METHODS[method]!(opened, params, end - performance.now())
}
