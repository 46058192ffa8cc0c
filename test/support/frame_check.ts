/**
 * Holds every frame that a test receives against what is declared of it (gateway/ws/protocol.ts, gateway/ws/channels), stricter than the
 * declaration: a field that is not declared is wrong too. What is found is thrown outside of the socket, so that no test can miss it.
 */
import { Compile } from 'typebox/schema'
import type { TSchema } from 'typebox'
import { DECLARATIONS } from '../../gateway/ws/channels/index.ts'
import { ORDER_ACTIONS, orderResult, RefusedResult, RESULT_TYPE, SessionOpened, type OrderType } from '../../gateway/ws/order_messages.ts'
import { channelFrame } from '../../gateway/ws/channels/channel.ts'
import { FRAMES } from '../../gateway/ws/protocol.ts'
import { close } from './openapi_check.ts'

interface Json {
  readonly [keyword: string]: unknown
}

const schemas = new Map<string, TSchema>([
  ...Object.entries(FRAMES),
  ...DECLARATIONS.flatMap((declaration) =>
    Object.keys(declaration.frames).map((type): [string, TSchema] => [`${declaration.name} ${type}`, channelFrame(declaration, type)])),
])
/** Answers of order entry do not say what they answer: one of these has to fit. */
const RESULTS = [...(Object.keys(ORDER_ACTIONS) as OrderType[]).map(orderResult), SessionOpened]
  .map((schema, i): [string, TSchema] => [`${RESULT_TYPE} ${i}`, schema])
const REFUSED = `${RESULT_TYPE} refused`
for (const [name, schema] of [...RESULTS, [REFUSED, RefusedResult] as [string, TSchema]]) schemas.set(name, schema)
const compiled = new Map<string, ReturnType<typeof Compile>>()

/** What is wrong with a frame, in words. */
export function frameProblems(frame: Json): string[] {
  const { channel, type, data } = frame
  if (type === RESULT_TYPE) {
    const found = (frame['error'] === undefined ? RESULTS.map(([name]) => name) : [REFUSED]).map((name) => problemsOf(name, frame))
    return found.some((problems) => problems.length === 0) ? [] : found.flat()
  }
  return problemsOf(data === undefined ? String(type) : `${String(channel)} ${String(type)}`, frame)
}

function problemsOf(name: string, frame: Json): string[] {
  const schema = schemas.get(name)
  if (schema === undefined) return ['it is declared nowhere']
  const validator = compiled.get(name) ?? Compile(close(schema) as Json)
  compiled.set(name, validator)
  const [good, errors] = validator.Errors(frame)
  if (good) return []
  return errors.length === 0 ? ['it does not match its declaration'] : errors.map((each) => `${each.instancePath}: ${each.message}`)
}

/** Ends the test program when something is wrong with this text of a frame. */
export function checkFrame(text: string): void {
  const problems = frameProblems(JSON.parse(text) as Json)
  if (problems.length === 0) return
  const error = new Error(`${problems.join('; ')}: ${text.slice(0, 2000)}`)
  setImmediate(() => {
    throw error
  })
}
