/**
 * `npm run operator -- COMMAND`: the operator port of a running exchange on the command line. It keeps nothing and decides nothing:
 * commands.ts says what is asked, server.ts what is answered.
 *
 * Answers go to standard output, failures to standard error. Exit code 0: done; 1: refused, not ready, not running or no answer; 2: the
 * call was wrong and nothing was asked.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { KNOBS, OPERATOR_TOKEN_FILE, OPERATOR_TOKEN_VARIABLE } from '../../core/config.ts'
import { createAsk, OperatorError, unexpected, type TokenOf } from './client.ts'
import { UsageError, type Command, type Options } from './command.ts'
import { COMMANDS } from './commands.ts'
import { details, overview, RUN, usage } from './help.ts'
import { needsToken } from './routes.ts'
import { printable } from './text.ts'

const EXIT = { DONE: 0, FAILED: 1, USAGE: 2 } as const
const TIMEOUT_SECONDS = { fallback: 10, low: 1, high: 60 } as const
const PORT_VARIABLE = 'RINGBOOK_OPERATOR_PORT'
const DATA_DIR_VARIABLE = 'RINGBOOK_DATA_DIR'
const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
/** Options of the command line itself. */
const GENERAL = { port: TEXT, timeout: TEXT, 'token-file': TEXT, 'data-dir': TEXT, json: FLAG, help: FLAG } as const
/** Those that belong to commands. */
const OWN = COMMANDS.flatMap(({ options = [] }) => options)

function parse(argv: readonly string[]) {
  const own = Object.fromEntries(OWN.map(({ name, value, many }) =>
    [name, value === '' ? FLAG : { ...TEXT, ...(many === true ? { multiple: true } : {}) }]))
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: { ...own, ...GENERAL } })
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!)
  }
}

/** Whole number of this option from `low` to `high`. */
function whole(text: string, name: string, low: number, high: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < low || value > high) throw new UsageError(`${name} is a whole number from ${low} to ${high}`)
  return value
}

function portOf(given: string | undefined): number {
  if (given !== undefined) return whole(given, '--port', 1, 65_535)
  const variable = process.env[PORT_VARIABLE]
  return variable === undefined ? KNOBS.operatorPort.fallback : whole(variable, PORT_VARIABLE, 1, 65_535)
}

const secondsOf = (given: string | undefined): number =>
  given === undefined ? TIMEOUT_SECONDS.fallback : whole(given, '--timeout', TIMEOUT_SECONDS.low, TIMEOUT_SECONDS.high)

/** What may stand in a header. */
const TOKEN = /^[\x21-\x7e]{1,512}$/

/** The operator's token; `null` where none is: the port then says where it is. */
function tokenOf(file: string | undefined, dataDir: string | undefined): string | null {
  const given = file === undefined ? process.env[OPERATOR_TOKEN_VARIABLE] : undefined
  const path = file ?? join(dataDir ?? process.env[DATA_DIR_VARIABLE] ?? KNOBS.dataDir.fallback, OPERATOR_TOKEN_FILE)
  const token = given ?? readToken(path, file !== undefined)
  if (token !== null && !TOKEN.test(token)) throw new UsageError(`no token: ${given === undefined ? path : OPERATOR_TOKEN_VARIABLE}`)
  return token
}

function readToken(path: string, named: boolean): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !named) return null
    throw new UsageError(`the operator's token cannot be read: ${message}`)
  }
}

/** The commands that begin with these words; throws when there are none. */
function family(words: readonly string[]): readonly Command[] {
  const typed = words.slice(0, 2).join(' ')
  const found = COMMANDS.filter(({ name }) => name === typed || name === words[0] || name.startsWith(`${typed} `))
  if (found.length > 0) return found
  const siblings = COMMANDS.filter(({ name }) => name.startsWith(`${words[0]} `)).map(({ name }) => name)
  throw new UsageError(`no such command: ${typed}${siblings.length > 0 ? `; there is: ${siblings.join(', ')}` : ''}`)
}

/** The command these words name, with its parameters. `given`: names of the options that were typed. */
function commandOf(words: readonly string[], given: readonly string[]): { command: Command; parameters: readonly string[] } {
  const found = family(words)
  const [command] = found as [Command]
  const length = command.name.split(' ').length
  if (words.length < length) throw new UsageError(`which of them: ${found.map(({ name }) => name).join(', ')}?`)
  const parameters = words.slice(length)
  const { options = [] } = command
  const fits = given.every((name) => options.some((option) => option.name === name))
    && options.every(({ name, optional }) => optional === true || given.includes(name))
  if (parameters.length !== command.parameters.length || !fits) {
    throw new UsageError(`it is typed as: ${usage(command)}`)
  }
  return { command, parameters }
}

async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parse(argv)
  const words = positionals[0] === 'help' ? positionals.slice(1) : positionals
  if (values.help === true || positionals[0] === 'help') {
    print(words.length === 0 ? overview(COMMANDS) : details(family(words)))
    return EXIT.DONE
  }
  if (words.length === 0) throw new UsageError(`which command? There is: ${COMMANDS.map(({ name }) => name).join(', ')}`)
  const { command, parameters } = commandOf(words, OWN.map(({ name }) => name).filter((name) => (values as Options)[name] !== undefined))
  const port = portOf(values.port)
  const tokens: TokenOf = (method, path) =>
    (needsToken(method, path) ? tokenOf(values['token-file'], values['data-dir']) : null)
  const ask = createAsk(port, secondsOf(values.timeout) * 1000, tokens)
  try {
    const shown = await command.run(ask, parameters, values as Options)
    if (shown.warning !== undefined) process.stderr.write(`${shown.warning}\n`)
    print(values.json === true ? `${JSON.stringify(shown.json)}\n` : `${shown.text}\n`)
    return shown.good === false ? EXIT.FAILED : EXIT.DONE
  } catch (error) {
    // An answer of another shape than this version's: somebody else's port, or another version.
    throw error instanceof TypeError ? unexpected(port, error.message) : error
  }
}

function print(text: string): void {
  process.stdout.write(text)
}

/** Says what went wrong; returns the exit code. */
function failed(error: unknown, asJson: boolean): number {
  if (error instanceof UsageError) {
    const { message } = error
    const text = asJson ? JSON.stringify({ code: 'USAGE', message, details: {} }) : `operator: ${printable(message)}\nTry: ${RUN} --help`
    process.stderr.write(`${text}\n`)
    return EXIT.USAGE
  }
  if (!(error instanceof OperatorError)) throw error
  const { code, message, details: more } = error
  const fields = Object.entries(more).map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const text = `operator: ${code}: ${message}${fields.length > 0 ? ` (${fields.join(', ')})` : ''}`
  process.stderr.write(`${asJson ? JSON.stringify({ code, message, details: more }) : printable(text)}\n`)
  return EXIT.FAILED
}

// Whoever reads may stop reading: a pipe into head.
process.stdout.on('error', () => process.exit())
const argv = process.argv.slice(2)
try {
  process.exitCode = await run(argv)
} catch (error) {
  process.exitCode = failed(error, argv.includes('--json'))
}
