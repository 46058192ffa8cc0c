/**
 * The real exchange, supervisor and all, for end-to-end and crash tests and for system benches: free ports on 127.0.0.1, a data directory
 * of its own, ended by its own process ids.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '..', '..')

export interface Exchange {
  /** The supervisor, which ends with the exit code of the whole. */
  readonly supervisor: ChildProcess
  /** The exchange process itself. */
  readonly pid: number
  readonly port: number
  readonly grpcPort: number
  readonly operatorPort: number
  /** What the operator port wants in x-operator-token. */
  readonly operatorToken: string
  /** JSON-RPC of the embedded chain; absent with the flags --chain 0 or --chain-rpc-url. */
  readonly chainPort: number | undefined
  readonly baseUrl: string
  readonly dataDir: string
  /** Everything it wrote so far, to both outputs. */
  readonly output: string[]
  /** Log lines so far, parsed. */
  readonly log: Record<string, unknown>[]
  /** Orderly stop (SIGTERM); resolves with the exit code. */
  stop(): Promise<number | null>
  /** kill -9 of the exchange process; resolves when it and its supervisor are gone. */
  kill(): Promise<void>
  /** Resolves with the exit code when the process ends by itself. */
  readonly ended: Promise<number | null>
}

/** Posts to the operator's port with its token. */
export async function operate(
  { operatorPort, operatorToken }: Pick<Exchange, 'operatorPort' | 'operatorToken'>, path: string, body: object,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const headers = { 'Content-Type': 'application/json', 'x-operator-token': operatorToken }
  const response = await fetch(`http://127.0.0.1:${operatorPort}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

/** What the operator's port answers to a GET with its token. */
export async function askOperator(
  { operatorPort, operatorToken }: Pick<Exchange, 'operatorPort' | 'operatorToken'>, path: string,
): Promise<Record<string, any>> {
  const response = await fetch(`http://127.0.0.1:${operatorPort}${path}`, { headers: { 'x-operator-token': operatorToken } })
  return (await response.json()) as Record<string, any>
}

/** A new server key of an application, named by its client id. */
export async function issueServerKey(exchange: Exchange, clientId = 'ringbook'): Promise<string> {
  const { status, json } = await operate(exchange, '/keys/issue', { application: clientId })
  if (status !== 200) throw new Error(`no server key: ${JSON.stringify(json)}`)
  return json['serverKey'] as string
}

/** Resolves when the history has everything that was answered so far: on a busy machine a read would not wait long enough for it. */
export async function historyReached({ baseUrl, operatorPort }: Exchange): Promise<void> {
  const { sequence } = (await (await fetch(`${baseUrl}/api/v1/health`)).json()) as { sequence: number }
  for (let look = 0; look < 3_000; look++) {
    const metrics = await (await fetch(`http://127.0.0.1:${operatorPort}/metrics`)).text()
    if (Number(/^exchange_history_sequence (\d+)/m.exec(metrics)?.[1]) >= sequence) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`the history did not reach ${sequence}`)
}

/** The first line it logs with such a message: lines come through the supervisor, and so may come behind an answer that tells the same. */
export async function logged({ log }: Pick<Exchange, 'log'>, message: string | RegExp): Promise<Record<string, unknown>> {
  const says = ({ msg }: Record<string, unknown>): boolean => (typeof message === 'string' ? msg === message : message.test(String(msg)))
  for (let look = 0; look < 3_000; look++) {
    const line = log.find(says)
    if (line !== undefined) return line
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`no line says ${String(message)}`)
}

/** A new directory under the project's ignored data, so that benches and crash tests use the disk the exchange would use. */
export function temporaryDirectory(): string {
  return mkdtempSync(join(root, 'data', 'var-'))
}

export const removeDirectory = (path: string): void => rmSync(path, { recursive: true, force: true })

/** kill -9 of a process that may be gone. */
function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A start that did not get to `ready`. */
export class StartFailed extends Error {
  override name = 'StartFailed'
  readonly code: number | null
  readonly log: Record<string, unknown>[]
  constructor(code: number | null, log: Record<string, unknown>[], stderr: string) {
    super(`the exchange ended with code ${code} before it was ready: ${JSON.stringify(log.at(-1))} ${stderr}`)
    this.code = code
    this.log = log
  }
}

/**
 * Runs a command as a user for whom mode bits count; who may not do that is one. Without NODE_OPTIONS, through which tap loads code that
 * writes where that user may not.
 */
export const AS_NOBODY: readonly string[] =
  process.getuid?.() === 0 ? ['env', '-u', 'NODE_OPTIONS', 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

/** What a test may say of a start besides the data directory. */
type Start = [
  dataDir: string, flags?: readonly string[], environment?: Record<string, string>, before?: readonly string[],
  heard?: (line: string) => void,
]

/**
 * Starts the exchange with one gateway thread, unless the flags have another number: what a test counts is that of one thread and the same
 * on every machine. The rest as {@link startAsConfigured}.
 */
export const startExchange = (...[dataDir, flags = [], ...rest]: Start): Promise<Exchange> =>
  startAsConfigured(dataDir, ['--gateways', '1', ...flags], ...rest)

/**
 * Starts the exchange with these flags and waits until it serves; `before` is a command that runs it, `heard` gets each
 * line it writes. Throws {@link StartFailed}.
 */
export async function startAsConfigured(
  ...[dataDir, flags = [], environment = {}, before = [], heard = () => undefined]: Start
): Promise<Exchange> {
  // Index prices and the vault come when a test wants them: what it counts is its own, and a start is shorter.
  const ports = ['--port', '0', '--grpc-port', '0', '--operator-port', '0', '--chain-port', '0']
  const all = ['--data-dir', dataDir, ...ports, '--price-feed', '0', '--vault', '0', ...flags]
  const main = ['--disable-warning=ExperimentalWarning', join(root, 'core', 'supervisor', 'main.ts'), ...all]
  const [command, ...words] = [...before, process.execPath, ...main] as [string, ...string[]]
  const child = spawn(command, words, { cwd: root, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  const log: Record<string, unknown>[] = []
  const output: string[] = []
  let stderr = ''
  child.stdout.on('data', (text: Buffer) => output.push(text.toString()))
  child.stderr.on('data', (text: Buffer) => output.push(text.toString()))
  child.stderr.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-4000)))
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)))
  const ready = new Promise<Record<string, unknown>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      heard(line)
      let entry: Record<string, unknown>
      try {
        entry = JSON.parse(line) as Record<string, unknown>
      } catch {
        entry = { msg: line }
      }
      log.push(entry)
      if (entry['msg'] === 'ready') resolve(entry)
    })
    void ended.then((code) => reject(new StartFailed(code, log, stderr)))
  })
  const { port, grpcPort, operatorPort, chainPort } = (await ready) as Record<'port' | 'grpcPort' | 'operatorPort' | 'chainPort', number>
  const pid = Number(log.find(({ msg }) => msg === 'starting')!['pid'])
  return {
    supervisor: child,
    pid,
    port,
    grpcPort,
    operatorPort,
    operatorToken: environment['RINGBOOK_OPERATOR_TOKEN'] ?? readFileSync(join(dataDir, 'operator.token'), 'utf8').trim(),
    chainPort,
    dataDir,
    log,
    output,
    ended,
    baseUrl: `http://127.0.0.1:${port}`,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
    kill: async () => {
      if (child.exitCode === null && child.signalCode === null) killed(pid)
      await ended
    },
  }
}
