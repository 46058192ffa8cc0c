/**
 * `npm run operator -- COMMAND`: the operator port of a running exchange on the command line. It keeps nothing and decides nothing:
 * commands.ts says what is asked, server.ts what is answered.
 *
 * Answers go to standard output, failures to standard error. Exit code 0: done; 1: refused, not ready, not running or no answer; 2: the
 * call was wrong and nothing was asked.
 */
import { parseArgs } from 'node:util'
import { KNOBS } from '../../core/config.ts'
import { createAsk, OperatorError, unexpected } from './client.ts'
import { COMMANDS, UsageError, type Command } from './commands.ts'
import { details, overview, RUN, usage } from './help.ts'
import { printable } from './text.ts'

const EXIT = { DONE: 0, FAILED: 1, USAGE: 2 } as const
const TIMEOUT_SECONDS = { fallback: 10, low: 1, high: 60 } as const
const PORT_VARIABLE = 'RINGBOOK_OPERATOR_PORT'

function parse(argv: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  try {
    const options = { port: text, timeout: text, user: text, json: flag, help: flag }
    return parseArgs({ args: [...argv], allowPositionals: true, options })
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

/** The commands that begin with these words; throws when there are none. */
function family(words: readonly string[]): readonly Command[] {
  const typed = words.slice(0, 2).join(' ')
  const found = COMMANDS.filter(({ name }) => name === typed || name === words[0] || name.startsWith(`${typed} `))
  if (found.length > 0) return found
  const siblings = COMMANDS.filter(({ name }) => name.startsWith(`${words[0]} `)).map(({ name }) => name)
  throw new UsageError(`no such command: ${typed}${siblings.length > 0 ? `; there is: ${siblings.join(', ')}` : ''}`)
}

/** The command these words name, with its parameters. */
function commandOf(words: readonly string[], user: string | undefined): { command: Command; parameters: readonly string[] } {
  const found = family(words)
  const [command] = found as [Command]
  const length = command.name.split(' ').length
  if (words.length < length) throw new UsageError(`which of them: ${found.map(({ name }) => name).join(', ')}?`)
  const parameters = words.slice(length)
  const takesUser = command.options?.includes('user') === true
  if (parameters.length !== command.parameters.length || takesUser !== (user !== undefined)) {
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
  const { command, parameters } = commandOf(words, values.user)
  const port = portOf(values.port)
  const ask = createAsk(port, secondsOf(values.timeout) * 1000)
  const { user } = values
  try {
    const shown = await command.run(ask, parameters, user === undefined ? {} : { user })
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
