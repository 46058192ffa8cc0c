/**
 * `npm run operator -- COMMAND`: the operator port of a running exchange on the command line. It keeps nothing and decides nothing:
 * commands.ts says what is asked, server.ts what is answered.
 *
 * Answers go to standard output, failures to standard error. Exit code 0: done; 1: refused, not ready, not running or no answer; 2: the
 * call was wrong and nothing was asked.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { KNOBS, OPERATOR_TOKEN_FILE, OPERATOR_TOKEN_VARIABLE } from '../../core/config.ts'
import { dataDirOf, saidVersion } from '../../core/lib/about.ts'
import { createAsk, OperatorError, unexpected, type TokenOf } from './client.ts'
import { UsageError } from './command.ts'
import { familyOf, parseCommand, parseWords } from './command_words.ts'
import { COMMANDS } from './commands.ts'
import { details, overview, RUN } from './help.ts'
import { needsToken } from './routes.ts'
import { printable } from './text.ts'

const EXIT = { DONE: 0, FAILED: 1, USAGE: 2 } as const
const TIMEOUT_SECONDS = { fallback: 10, low: 1, high: 60 } as const
const PORT_VARIABLE = 'RINGBOOK_OPERATOR_PORT'
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
  const path = file ?? join(dataDirOf(dataDir), OPERATOR_TOKEN_FILE)
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

async function run(argv: readonly string[]): Promise<number> {
  if (saidVersion(argv)) return EXIT.DONE
  const { values, positionals } = parseWords(COMMANDS, argv)
  const words = positionals[0] === 'help' ? positionals.slice(1) : positionals
  if (values.help === true || positionals[0] === 'help') {
    print(words.length === 0 ? overview(COMMANDS) : details(familyOf(COMMANDS, words)))
    return EXIT.DONE
  }
  if (words.length === 0) throw new UsageError(`which command? There is: ${COMMANDS.map(({ name }) => name).join(', ')}`)
  const { command, parameters, options } = parseCommand(COMMANDS, argv)
  const port = portOf(values.port)
  const tokens: TokenOf = (method, path) =>
    (needsToken(method, path) ? tokenOf(values['token-file'], values['data-dir']) : null)
  const ask = createAsk(port, secondsOf(values.timeout) * 1000, tokens)
  try {
    const shown = await command.run(ask, parameters, options)
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
