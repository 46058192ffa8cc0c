/** What `npm run operator -- --help` teaches, made from the rows of commands.ts. */
import { KNOBS, OPERATOR_TOKEN_FILE, OPERATOR_TOKEN_VARIABLE } from '../../core/config.ts'
import type { Command, OptionUse } from './command.ts'

/** What is typed before a command. */
export const RUN = 'npm run operator --'
const indented = (text: string, by = 2): string => text.replace(/^(?=.)/gm, ' '.repeat(by))

/** The command as it is typed: `pairs set PAIR STATUS`. */
export const usage = ({ name, parameters, options = [] }: Command): string =>
  [name, ...parameters, ...options.map(usageOf)].join(' ')

const usageOf = ({ name, value, optional }: OptionUse): string => {
  const typed = value === '' ? `--${name}` : `--${name} ${value}`
  return optional === true ? `[${typed}]` : typed
}

/** Longest line of a call. */
const COLUMNS = 110

/** A call as it is typed; a long one goes on behind a backslash, from an option on. */
const callOf = (call: string): string => {
  const lines: string[] = []
  for (const word of `${RUN} ${call}`.split(/ (?=--[a-z])/)) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= COLUMNS) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.join(' \\\n  ')
}

/** Everything at a glance: each command with its purpose and an example. */
export const overview = (commands: readonly Command[]): string => `\
Operator: looks at a running exchange and changes what is an operator's to change.

Usage: ${RUN} COMMAND [options]

${commands.map((command) => `  ${usage(command)}\n${indented(`${command.purpose}\n${callOf(command.example[0])}`, 6)}`).join('\n')}

Options:
${OPTIONS}

With --help after a command it tells more about that, or about all that begin with a word: ${RUN} pairs --help

It talks to the operator port on 127.0.0.1 of this machine; backup and restore work on directories instead.
What changes something, and what shows users or applications, needs the operator's token: from
--token-file, else from the environment variable ${OPERATOR_TOKEN_VARIABLE}, else from
${OPERATOR_TOKEN_FILE} in the data directory, where the exchange puts it at its first start.

Changes are commands of the journal, answered when they are on disk and applied; the sequence that is printed finds them there:
npm run replay -- inspect --at SEQUENCE

For programs: npm run --silent operator -- status --json. With --json the answer goes to standard output as one JSON object, a
failure to standard error as {"code", "message", "details"}.

Exit codes: 0 done; 1 refused, not ready, not running or no answer; 2 the call was wrong and nothing was asked.
`

const OPTIONS = `  --port PORT
      Operator port of the exchange. Default ${KNOBS.operatorPort.fallback}; environment RINGBOOK_OPERATOR_PORT.
  --token-file FILE
      File with the operator's token.
  --data-dir DIRECTORY
      Data directory of the exchange, for its token and for backup. Default that of npm start; environment RINGBOOK_DATA_DIR.
  --timeout SECONDS
      Longest wait for an answer, 1 to 60. Default 10.
  --json
      The answer as JSON.
  --help
      This text; after a command, more about it.
  --version
      The version of the program.`

/** One command, or several of a family, at length. */
export const details = (commands: readonly Command[]): string =>
  commands.map((command) => {
    const [call, prints] = command.example
    const explained = indented(`${command.purpose}\n\n${command.explains}\n\nExample:`)
    return `${usage(command)}\n\n${explained}\n${indented(`${callOf(call)}\n${prints}`, 4)}\n`
  }).join('\n')
