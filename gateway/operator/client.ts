/**
 * One request to the operator port of an exchange on this machine, for the command line: bounded in time and size, on a
 * connection of its own, never through a proxy.
 *
 * Every way it can fail is an {@link OperatorError} whose message says what to do. A change without an answer may have
 * been made.
 */
import { request, type IncomingMessage } from 'node:http'
import { TOKEN_HEADER } from './access.ts'

/** Longest answer that is read, bytes. The metrics of 64 gateways and 64 pairs are far below. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const JSON_TYPE = 'application/json'

export interface Answer {
  readonly status: number
  /** The answer as it came. */
  readonly text: string
  /** Its value, when it is a JSON object; else `null`. */
  readonly json: Readonly<Record<string, unknown>> | null
}

/** GET without `body`, POST with it. Throws {@link OperatorError}. */
export type Ask = (path: string, body?: object) => Promise<Answer>

/** Code: of the refusal, or NOT_RUNNING, NO_ANSWER or UNEXPECTED_RESPONSE, when no exchange answered. */
export class OperatorError extends Error {
  override name = 'OperatorError'
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

/**
 * The operator's token for a request; `null` when there is none, or the request needs none: whoever listens there has
 * no use for it.
 */
export type TokenOf = (method: string, path: string) => string | null

/** A client of 127.0.0.1:`port` that waits `timeoutMs` for a whole answer. */
export function createAsk(port: number, timeoutMs: number, token: TokenOf): Ask {
  return async (path, body) => {
    const { status, type, text } = await exchange({ port, timeoutMs, path, body, token: tokenFor(path, body, token) })
    const json = type.startsWith(JSON_TYPE) ? parseObject(text) : null
    if (json !== null && typeof json['error'] === 'string') throw refusal(json, body !== undefined)
    // Not ready is an answer, and the only one beside 200 that is no refusal.
    const plausible = status === 200 || (status === 503 && json !== null)
    if (!plausible || (type.startsWith(JSON_TYPE) && json === null)) throw unexpected(port, `HTTP ${status}`)
    return { status, text, json }
  }
}

const tokenFor = (path: string, body: object | undefined, token: TokenOf): string | null =>
  token(body === undefined ? 'GET' : 'POST', path.split('?', 1)[0]!)

export function unexpected(port: number, what: string): OperatorError {
  const message = `what answers on 127.0.0.1:${port} is not the operator port of this version (${what}). Another port is named with --port`
  return new OperatorError('UNEXPECTED_RESPONSE', message)
}

function refusal(json: Readonly<Record<string, unknown>>, changing: boolean): OperatorError {
  const code = String(json['code'] ?? json['error'])
  const details = typeof json['details'] === 'object' && json['details'] !== null ? (json['details'] as Record<string, unknown>) : {}
  const message = String(json['message'])
  return new OperatorError(code, changing && code === 'SERVICE_UNAVAILABLE' ? `${message}. ${MAY_BE_MADE}` : message, details)
}

const MAY_BE_MADE = 'The change may have been made or may still be: look before you repeat it'

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

interface Raw {
  readonly status: number
  readonly type: string
  readonly text: string
}

interface Question {
  readonly port: number
  readonly timeoutMs: number
  readonly path: string
  readonly body: object | undefined
  readonly token: string | null
}

function exchange({ port, timeoutMs, path, body, token }: Question): Promise<Raw> {
  return new Promise<Raw>((resolve, reject) => {
    const changing = body !== undefined
    const payload = changing ? JSON.stringify(body) : ''
    const type = changing ? { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(payload) } : {}
    const headers = { ...type, ...(token === null ? {} : { [TOKEN_HEADER]: token }) }
    // Without an agent: one connection that ends with its answer, and no proxy of the environment.
    const sent = request({ host: '127.0.0.1', port, method: changing ? 'POST' : 'GET', path, headers, agent: false })
    const timer = setTimeout(() => end(noAnswer(`no answer in ${timeoutMs / 1000} s`, changing)), timeoutMs)
    const end = (error: Error): void => {
      clearTimeout(timer)
      sent.destroy()
      reject(error)
    }
    sent.on('error', (error: NodeJS.ErrnoException) => end(connectionError(error, changing, port)))
    sent.on('response', (response) =>
      readAnswer(response, (error, text) => {
        if (error !== null) return end(error === 'long' ? unexpected(port, 'too long') : noAnswer('the connection broke', changing))
        clearTimeout(timer)
        resolve({ status: response.statusCode!, type: response.headers['content-type'] ?? '', text })
      }),
    )
    sent.end(payload)
  })
}

function readAnswer(response: IncomingMessage, done: (error: 'long' | 'broken' | null, text: string) => void): void {
  const chunks: Buffer[] = []
  let length = 0
  response.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > ANSWER_BYTES_MAX) done('long', '')
    else chunks.push(chunk)
  })
  response.on('error', () => done('broken', ''))
  response.on('end', () => done(null, Buffer.concat(chunks).toString('utf8')))
}

function notRunning(port: number): OperatorError {
  const message = `no exchange answers on 127.0.0.1:${port}. Start it with: npm start. ` +
    'If it has another operator port, name that with --port or RINGBOOK_OPERATOR_PORT'
  return new OperatorError('NOT_RUNNING', message)
}

function connectionError({ code = '' }: NodeJS.ErrnoException, changing: boolean, port: number): OperatorError {
  if (code === 'ECONNREFUSED') return notRunning(port)
  return code.startsWith('HPE_') ? unexpected(port, 'no HTTP') : noAnswer('the connection broke', changing)
}

const noAnswer = (what: string, changing: boolean): OperatorError =>
  new OperatorError('NO_ANSWER', changing ? `${what}. ${MAY_BE_MADE}` : what)
