/** What is typed on the operator's command line, held against the commands there are. */
import { parseArgs } from 'node:util'
import { UsageError, type Command, type Options } from './command.ts'
import { usage } from './help.ts'

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
/** Options of the command line itself. */
const GENERAL = { port: TEXT, timeout: TEXT, 'token-file': TEXT, 'data-dir': TEXT, json: FLAG, help: FLAG } as const

/** Options and words of a call; options that belong to commands are those of `commands`. */
export function parseWords(commands: readonly Command[], argv: readonly string[]) {
  const own = Object.fromEntries(commands.flatMap(({ options = [] }) => options).map(({ name, value, many }) =>
    [name, value === '' ? FLAG : { ...TEXT, ...(many === true ? { multiple: true } : {}) }]))
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: { ...own, ...GENERAL } })
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!)
  }
}

/** The commands that begin with these words; throws when there are none. */
export function familyOf(commands: readonly Command[], words: readonly string[]): readonly Command[] {
  const typed = words.slice(0, 2).join(' ')
  const found = commands.filter(({ name }) => name === typed || name === words[0] || name.startsWith(`${typed} `))
  if (found.length > 0) return found
  const siblings = commands.filter(({ name }) => name.startsWith(`${words[0]} `)).map(({ name }) => name)
  throw new UsageError(`no such command: ${typed}${siblings.length > 0 ? `; there is: ${siblings.join(', ')}` : ''}`)
}

/** The command that a call names, with its parameters and options. */
export function parseCommand(
  commands: readonly Command[], argv: readonly string[],
): { command: Command; parameters: readonly string[]; options: Options } {
  const { values, positionals: words } = parseWords(commands, argv)
  const found = familyOf(commands, words)
  const [command] = found as [Command]
  const length = command.name.split(' ').length
  if (words.length < length) throw new UsageError(`which of them: ${found.map(({ name }) => name).join(', ')}?`)
  const parameters = words.slice(length)
  const { options = [] } = command
  const given = Object.keys(values).filter((name) => !(name in GENERAL))
  const fits = given.every((name) => options.some((option) => option.name === name))
    && options.every(({ name, optional }) => optional === true || given.includes(name))
  if (parameters.length !== command.parameters.length || !fits) throw new UsageError(`it is typed as: ${usage(command)}`)
  return { command, parameters, options: values }
}
