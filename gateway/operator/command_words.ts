/** What is typed on the operator's command line, held against the commands there are. */
import { parseArgs } from 'node:util'
import { UsageError, type Command, type OptionUse, type Options } from './command.ts'
import { usage } from './help.ts'

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
/** Options of the command line itself. */
const GENERAL = { port: TEXT, timeout: TEXT, 'token-file': TEXT, 'data-dir': TEXT, json: FLAG, help: FLAG } as const

const kindOf = ({ value, many }: OptionUse) => (value === '' ? FLAG : { ...TEXT, ...(many === true ? { multiple: true } : {}) })

/** What is typed for an option that is true or false: with a value, or alone for true. */
const TRUE_OR_FALSE = 'true'

/**
 * Words and general options of a call, whichever command it is. Several commands may have an option of one name with
 * different values: only {@link parseCommand} knows which is meant, so here such an option takes no value.
 */
export function parseWords(commands: readonly Command[], argv: readonly string[]) {
  const own: Record<string, ReturnType<typeof kindOf>> = {}
  for (const option of commands.flatMap(({ options = [] }) => options)) {
    if (own[option.name]?.type !== 'boolean') own[option.name] = kindOf(option)
  }
  const args = argv.map((word) => {
    const name = /^--([^=]+)=/.exec(word)?.[1]
    return name !== undefined && own[name]?.type === 'boolean' ? `--${name}` : word
  })
  return parsed(args, own)
}

function parsed(args: string[], own: Readonly<Record<string, ReturnType<typeof kindOf>>>) {
  try {
    return parseArgs({ args, allowPositionals: true, options: { ...own, ...GENERAL } })
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]!)
  }
}

/** Options and words of a call of `command`, by its own table of options. */
function parseFor({ options = [] }: Command, argv: readonly string[]) {
  const alone = new Set(options.filter(({ value }) => value === TRUE_OR_FALSE).map(({ name }) => `--${name}`))
  const args = argv.map((word, at) =>
    (alone.has(word) && !['true', 'false'].includes(argv[at + 1] ?? '') ? `${word}=true` : word))
  return parsed(args, Object.fromEntries(options.map((option) => [option.name, kindOf(option)])))
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
  const { values: typed, positionals: typedWords } = parseWords(commands, argv)
  const found = familyOf(commands, typedWords)
  const [command] = found as [Command]
  const length = command.name.split(' ').length
  if (typedWords.length < length) throw new UsageError(`which of them: ${found.map(({ name }) => name).join(', ')}?`)
  const { options = [] } = command
  const isOwn = (name: string): boolean => options.some((option) => option.name === name)
  const isStrange = Object.keys(typed).some((name) => !(name in GENERAL) && !isOwn(name))
  if (isStrange) throw new UsageError(`it is typed as: ${usage(command)}`)
  const { values, positionals: words } = parseFor(command, argv)
  const parameters = words.slice(length)
  const given = Object.keys(values).filter((name) => !(name in GENERAL))
  const fits = options.every(({ name, optional }) => optional === true || given.includes(name))
  if (parameters.length !== command.parameters.length || !fits) throw new UsageError(`it is typed as: ${usage(command)}`)
  return { command, parameters, options: values }
}
