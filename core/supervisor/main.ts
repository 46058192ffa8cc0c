/**
 * The supervisor: the process that `npm start` and systemd run. It starts the exchange process (core/main.ts), writes its log, hands stops
 * on to it, and ends with its exit code. SIGHUP has the certificates read again, unless a terminal says with it that it is gone: that is a
 * stop. A death that the exchange process cannot explain itself, by a signal in native code or from
 * outside, becomes one log line and an exit code of the list (threads.ts).
 *
 * It starts the exchange once; starting again after a failure is systemd's decision. Neither outlives the other: the exchange process
 * kills itself when the channel to its supervisor closes. It holds nothing of the data directory and loads next to nothing.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import type { Config } from '../config.ts'
import type { Paint } from './terminal.ts'
import type { FromSupervisor, ToSupervisor } from '../threads.ts'

/** How long an orderly stop may take, ms; how long an end after its announcement; how long outputs may stay open after the end. */
const STOP_MS = 60_000
const ENDING_MS = 4_000
const OUTPUT_MS = 1_000
/** Text of the exchange process that is kept to explain its end, characters. */
const KEPT = 8_000

let exchange: ChildProcess | null = null
let cause: string | null = null

/** Asks for an orderly stop: once it runs, by a message, which waits until the process listens; before, it is not started at all. */
function stop(signal: string): void {
  if (cause !== null) return
  cause = signal
  if (exchange === null) return
  tellStop(exchange, signal)
}

function tellStop(child: ChildProcess, signal: string): void {
  child.send({ type: 'stop', cause: signal } satisfies FromSupervisor, () => undefined)
  setTimeout(() => {
    write(logLine('error', { cause: signal }, `the exchange process did not stop within ${STOP_MS / 1000} s: it is killed`))
    child.kill('SIGKILL')
  }, STOP_MS).unref()
}

/** Whether a terminal started it, which sends SIGHUP to everything in it when it goes away. */
const inTerminal = isatty(0) || isatty(1)

// Before anything else is loaded, so that there is hardly a moment in which a stop is not orderly.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal))
process.on('SIGHUP', () => {
  if (inTerminal) stop('SIGHUP')
  else exchange?.send({ type: 'reload' } satisfies FromSupervisor, () => undefined)
})

const { ConfigError, configHelp, readConfig } = await import('../config.ts')
const { EXIT } = await import('../threads.ts')
const { saidVersion } = await import('../lib/about.ts')
const { createLines, isForPeople, logLine } = await import('./lines.ts')
const { verdictOf } = await import('./ending.ts')

/** Who read the log may be gone; that is no reason to stop trading. */
process.stdout.on('error', () => undefined)
/** A line of the log, as it is or as a terminal shows it. */
let write = (line: string): void => void process.stdout.write(line)

/** From now on the log is in words, when it is to be (`--log`). `config`: `null` when it cannot be read. */
async function chooseForm(config: Config | null, log: string): Promise<void> {
  if (!isForPeople(log, process.stdout.isTTY)) return
  const [{ Terminal }, { styleText }] = await Promise.all([import('./terminal.ts'), import('node:util')])
  // Asks the environment whether colours are wanted: NO_COLOR, FORCE_COLOR, TERM.
  const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout })
  const terminal = new Terminal(config, paint, () => performance.now())
  write = (line) => void process.stdout.write(terminal.show(line))
}

/** Whether there is something to start: help is given here, and a bad configuration refused, without loading an exchange. */
async function checkConfiguration(): Promise<boolean> {
  const argv = process.argv.slice(2)
  if (saidVersion(argv)) return false
  try {
    const config = readConfig(argv, process.env)
    if (config === null) process.stdout.write(configHelp())
    else await chooseForm(config, config.log)
    return config !== null
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const asked = /(?:^| )--log[= ](\w+)/.exec(argv.join(' '))?.[1]
    await chooseForm(null, asked ?? process.env['RINGBOOK_LOG'] ?? 'auto')
    write(logLine('fatal', { code: EXIT.CONFIG }, `configuration: ${error.message}`))
    process.exitCode = EXIT.CONFIG
    return false
  }
}

function supervise(): void {
  const child = fork(join(import.meta.dirname, '..', 'main.ts'), process.argv.slice(2), { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  exchange = child
  let said: number | null = null
  let text = ''
  const heard = (words: string): void => void (text = `${text}${words}\n`.slice(-KEPT))
  const outputs = (['stdout', 'stderr'] as const).map((stream) => {
    const lines = createLines(stream, (line) => write(line), heard)
    child[stream]!.on('data', (bytes: Buffer) => lines.take(bytes))
    return lines
  })
  child.on('message', (message: ToSupervisor) => {
    said = message.code
    // Ending threads may block it for good, when the clean-up of a native module does.
    setTimeout(() => child.kill('SIGKILL'), ENDING_MS).unref()
  })
  child.on('error', (error) => write(logLine('error', {}, `the exchange process: ${error.message}`)))
  const end = (code: number | null, signal: NodeJS.Signals | null): void => {
    for (const lines of outputs) lines.end()
    const verdict = verdictOf({ code, signal, said, text })
    if (verdict.message !== undefined) write(logLine('fatal', { code: verdict.code, signal, pid: child.pid }, verdict.message))
    // An output that is slow to take the last lines is waited for.
    process.stdout.write('', () => process.exit(verdict.code))
  }
  child.on('exit', (code, signal) => {
    // Followers that are still ending hold the outputs open; what they have to say then is not waited for.
    setTimeout(() => end(code, signal), OUTPUT_MS)
    child.on('close', () => end(code, signal))
  })
}

if (await checkConfiguration()) {
  if (cause === null) supervise()
  else write(logLine('warn', { cause }, 'asked to stop before anything was started'))
}
