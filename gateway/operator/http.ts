/** What the operator's routes read and answer: small JSON bodies, refusals of the register. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { REFUSALS, type Refusal, type RefusalCode } from '../../core/layout/refusals.ts'

/** Longest body, bytes. */
export const BODY_BYTES_MAX = 4_096
const JSON_TYPE = /^application\/json\s*(;|$)/i

export interface Answer {
  readonly status: number
  readonly body: string
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Handler = (request: IncomingMessage) => Answer | Promise<Answer>

export const json = (code: number, body: unknown): Answer => ({ status: code, body: `${JSON.stringify(body)}\n`, type: 'application/json' })

export function refused(refusal: Refusal, details?: Record<string, unknown>): Answer {
  const { error, code, http: statusCode, message } = refusal
  return json(statusCode, { error, message, code, statusCode, ...(details === undefined ? {} : { details }) })
}
export const refuse = (code: RefusalCode, details?: Record<string, unknown>): Answer => refused(REFUSALS[code], details)

/** Answers a request with what `route` makes of it; when it throws, `failed` hears why and the client is told INTERNAL. */
export async function respond(
  request: IncomingMessage, response: ServerResponse,
  route: (request: IncomingMessage) => Promise<Answer>, failed: (error: unknown) => void,
): Promise<void> {
  let said: Answer
  try {
    said = await route(request)
  } catch (error) {
    // A client that left while its body was read; anything else is ours to report. (A request is destroyed too once it was read whole.)
    if (response.destroyed) return
    failed(error)
    said = refuse('INTERNAL')
  }
  const body = Buffer.from(said.body)
  const headers = { 'Content-Type': said.type, 'Content-Length': body.length, 'Cache-Control': 'no-store', ...said.headers }
  response.writeHead(said.status, headers)
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** The fields of a JSON body, none of an empty one; or the refusal of one that is no JSON object or longer than {@link BODY_BYTES_MAX}. */
export async function readFields(request: IncomingMessage): Promise<{ fields: Readonly<Record<string, unknown>> } | { refusal: Answer }> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) return { refusal: refuse('MALFORMED_REQUEST', { field: 'Content-Type' }) }
  const body = await readBody(request)
  if (body === null) {
    return { refusal: { ...refuse('BODY_TOO_LARGE', { maxBytes: BODY_BYTES_MAX }), headers: { Connection: 'close' } } }
  }
  const fields = parseFields(body)
  return fields === null ? { refusal: refuse('MALFORMED_REQUEST', { field: 'body', expected: 'a JSON object' }) } : { fields }
}

/** `null`: it is no JSON object. What is meant by half a body is not guessed. */
function parseFields(body: string): Readonly<Record<string, unknown>> | null {
  if (body === '') return {}
  try {
    const value = JSON.parse(body) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** The body as text, or `null` as soon as it is longer than allowed; what comes after that is not read. */
function readBody(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= BODY_BYTES_MAX) chunks.push(chunk)
      else {
        request.pause()
        resolve(null)
      }
    })
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    request.on('error', reject)
  })
}
