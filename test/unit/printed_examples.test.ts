/**
 * Promise: every command that a document, the runbook or an alert prints is one that its program takes: words, options and values. Of the
 * operator's command line each is run up to the question that it asks, and the route that answers takes that. What help itself prints is
 * tested in operator_routes.test.ts.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Command } from '../../gateway/operator/command.ts'
import { parseCommand } from '../../gateway/operator/command_words.ts'
import { COMMANDS } from '../../gateway/operator/commands.ts'
import { DECLARED } from '../../gateway/operator/routes.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const DOCUMENTS = globSync(['*.md', '{core,gateway,test,bench,data}/**/*.{md,yml,service}'], { cwd: ROOT })
  .filter((path) => !path.includes('node_modules'))
/** In these a command is named without the program before it, too. */
const RUNBOOK = ['data/ops/README.md', 'data/ops/alerts.yml']
const PROGRAM = 'npm run operator -- '
const PLACEHOLDER = /^[A-Z][A-Z_]*$/

/** Where a call is printed, and its words. */
interface Printed {
  readonly at: string
  readonly words: readonly string[]
}

/** The command whose name `words` begin with. */
const commandOf = (words: readonly string[]): Command | undefined =>
  [2, 1].flatMap((length) => COMMANDS.filter(({ name }) => name === words.slice(0, length).join(' ')))[0]

/** The words of a line of code up to its comment; of another text up to the end of its code or of the part of the sentence. */
const wordsOf = (text: string, isCode: boolean): string[] => (isCode ? /^[^#]*/ : /^[^`"|;#,:?)]*/).exec(text)![0].trim().split(/\s+/)

/**
 * What a line prints of a command: the line of a block of code is the call alone; in a sentence a call ends with its parameters and
 * options. A command that is only named, "perps price sets it", has neither.
 */
function callOf(command: Command, words: readonly string[], isCode: boolean): string[] | null {
  if (isCode) return [...words]
  const { name, parameters, options = [] } = command
  const length = name.split(' ').length
  if (parameters.length > 0 && words.length === length) return null
  let end = length + parameters.length
  while (words[end]?.startsWith('--') === true) {
    const option = options.find((each) => `--${each.name}` === words[end])
    end += option !== undefined && option.value !== '' ? 2 : 1
  }
  return words.slice(0, end)
}

function printedIn(path: string): Printed[] {
  const found: Printed[] = []
  const text = readFileSync(join(ROOT, path), 'utf8')
  const add = (from: number, isCode: boolean): void => {
    // A call in a sentence may go on in the next line.
    const said = isCode ? text.slice(from, text.indexOf('\n', from)) : text.slice(from, from + 200).replace(/\s+/g, ' ')
    const words = wordsOf(said, isCode)
    if (words[0]!.startsWith('--') && words.length === 1) return
    const command = commandOf(words)
    const call = command === undefined ? words : callOf(command, words, isCode)
    const line = text.slice(0, from).split('\n').length
    if (call !== null) found.push({ at: `${path}:${line}`, words: call.map((word) => word.replace(/\.$/, '')) })
  }
  for (const { index } of text.matchAll(/npm run operator --\s/g)) add(index + PROGRAM.length, text[index - 1] === '\n')
  if (!RUNBOOK.includes(path)) return found
  // "... list, then insurance fund AMOUNT": every word may be the first of a command of two.
  for (const { index } of text.matchAll(/\b(?=[a-z]+ [a-z]+\b)/g)) {
    const words = wordsOf(text.slice(index, index + 200), false)
    const command = commandOf(words)
    const isNamed = command === undefined || !command.name.includes(' ') || text.slice(0, index).endsWith(PROGRAM)
    if (!isNamed && (command.parameters.length === 0 || PLACEHOLDER.test(words[2] ?? ''))) add(index, false)
  }
  return found
}

/** Values of the placeholders that usage of `commands` has, as their examples in help type them. */
function valuesIn(commands: readonly Command[]): Map<string, string> {
  const values = new Map<string, string>()
  for (const { name, parameters, options = [], example: [call] } of commands) {
    const words = call.split(' | ')[0]!.split(' ')
    const note = (placeholder: string, value: string | undefined): void => {
      if (value !== undefined && !values.has(placeholder)) values.set(placeholder, value)
    }
    parameters.forEach((parameter, place) => note(parameter, words[name.split(' ').length + place]))
    for (const { name: option, value } of options) if (words.includes(`--${option}`)) note(value, words[words.indexOf(`--${option}`) + 1])
  }
  return values
}
const VALUES = valuesIn(COMMANDS)

class Asked extends Error {
  readonly path: string
  readonly body: unknown

  constructor(path: string, body: unknown) {
    super('asked')
    this.path = path
    this.body = body
  }
}

const ROUTES = DECLARED.map(({ route }) => route)
/** Commands that ask a route. The others work on files or ask several. */
const ASKING = new Set(ROUTES.flatMap(({ commands }) => (typeof commands === 'string' ? [] : commands.map(({ name }) => name))))

/** Why the call would not be taken; '': it would. */
async function wrongWith(words: readonly string[]): Promise<string> {
  const own = valuesIn(COMMANDS.filter((command) => command === commandOf(words)))
  const call = words.map((word) => own.get(word) ?? VALUES.get(word) ?? word)
  if (call.includes('--help')) return commandOf(call) === undefined ? 'there is no such command' : ''
  try {
    const { command, parameters, options } = parseCommand(COMMANDS, call)
    if (!ASKING.has(command.name)) return ''
    await command.run((path, body) => Promise.reject(new Asked(path, body)), parameters, options)
    return 'it asked nothing'
  } catch (error) {
    if (!(error instanceof Asked)) return (error as Error).message
    const [path] = error.path.split('?') as [string]
    const route = ROUTES.find((each) => each.path === path && each.method === (error.body === undefined ? 'GET' : 'POST'))
    if (route === undefined) return `nothing answers ${path}`
    return error.body === undefined ? '' : JSON.stringify(route.check(error.body) ?? '').replace(/^""$/, '')
  }
}

for (const path of DOCUMENTS) {
  const printed = printedIn(path)
  if (printed.length === 0) continue
  t.test(`commands of the operator in ${path}`, async (t) => {
    for (const { at, words } of printed) t.equal(await wrongWith(words), '', `${at}: ${words.join(' ')}`)
  })
}

t.test('the fault that began this is found', async (t) => {
  t.equal(await wrongWith(['perps', 'price', 'PAIR', 'PRICE', '--force', 'true']), '')
  t.match(await wrongWith(['perps', 'price', 'PAIR', 'PRICE', '--urgent', 'true']), /urgent/)
  t.match(await wrongWith(['perps', 'price', 'PAIR', 'dear']), /./)
  t.match(await wrongWith(['perps', 'prize', 'PAIR', 'PRICE']), /no such command/)
})
