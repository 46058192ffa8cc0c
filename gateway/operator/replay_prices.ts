/**
 * Index prices from a file, set one after the other on the operator's command line: `time,symbol,price` a line, the time RFC 3339 with
 * its zone or Unix ms and never before the line above, a first line of names or not. Each waits as long as the file says since the one
 * before, divided by --speed, so that a day can be played in an hour. The price feeder leaves replayed prices alone while they are fresh.
 * Progress is standard error's.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError, type Ask } from './client.ts'
import { isSeconds, timeOf } from '../operations/date_time.ts'
import { said, typedFor, UsageError, type Command, type Options } from './command.ts'
import { count } from './text.ts'

const SPEED_MOST = 100_000
/** Between two lines of progress, ms. */
const TELL_MS = 5000

interface Line {
  /** Unix ms. */
  readonly time: number
  readonly symbol: string
  readonly price: string
}

/** The price on a line; `null`: it is empty, or the names of the columns. */
export function lineOf(text: string, number: number): Line | null {
  const [time = '', symbol = '', price = '', ...more] = text.split(',').map((cell) => cell.trim())
  if (text.trim() === '' || (number === 1 && time.toLowerCase() === 'time')) return null
  const ms = timeOf(time)
  if (isSeconds(time)) throw new UsageError(`line ${number} has the time ${time}, before 2001: times are Unix milliseconds, not seconds`)
  if (Number.isNaN(ms) || ms < 0 || symbol === '' || !/^\d{1,20}(\.\d{1,18})?$/.test(price) || more.length > 0) {
    throw new UsageError(`line ${number} is no time,symbol,price: the time is Unix milliseconds or RFC 3339 with a zone`)
  }
  return { time: ms, symbol, price }
}

function speedOf(options: Options): number {
  const text = typedFor(options, 'speed') ?? '1'
  const speed = Number(text)
  if (text.trim() !== '' && speed > 0 && speed <= SPEED_MOST) return speed
  throw new UsageError(`--speed is a number above 0, at most ${SPEED_MOST}`)
}

export interface Replayed { prices: number; refused: number }

/** Sets the prices of `lines`; a refusal is counted, any other fault ends it. */
export async function replayPrices(
  ask: Ask, lines: AsyncIterable<string>, speed: number, force: boolean, tell: (text: string) => void,
): Promise<Replayed> {
  const done: Replayed = { prices: 0, refused: 0 }
  const [started, first] = [performance.now(), { time: -1 }]
  let number = 0
  let last = 0
  let told = started
  for await (const text of lines) {
    const line = lineOf(text, ++number)
    if (line === null) continue
    if (first.time < 0) first.time = line.time
    if (line.time < last) throw new UsageError(`line ${number} is before the line above it: sort the file by time`)
    last = line.time
    const wait = started + (line.time - first.time) / speed - performance.now()
    if (wait > 0) await delay(wait)
    const { time, symbol, price } = line
    try {
      await ask('/perps/price', { pair: symbol, price, source: 'REPLAY', observedAt: time, ...(force ? { force } : {}) })
      done.prices++
    } catch (error) {
      if (!(error instanceof OperatorError) || error.code !== 'PRICE_OUT_OF_BAND') throw error
      done.refused++
    }
    if (performance.now() - told < TELL_MS) continue
    told = performance.now()
    tell(`line ${count(number)}, ${new Date(time).toISOString()}: ${count(done.prices)} prices, ${count(done.refused)} refused`)
  }
  return done
}

export const REPLAY_PRICES: Command = {
  name: 'prices replay', parameters: ['FILE'],
  options: [{ name: 'speed', value: 'TIMES', optional: true }, { name: 'force', value: '', optional: true }],
  purpose: 'set index prices from a file: time,symbol,price a line',
  explains: 'Times are RFC 3339 with a zone, or Unix milliseconds, and never go back. Each price waits as long as the file\n'
    + 'says since the one before, divided by --speed (1). Prices outside of the band around the one before are refused\n'
    + 'and counted, unless --force is given. The price feeder leaves replayed prices alone while they are fresh. Progress is on\n'
    + 'standard error.',
  example: ['prices replay btc.csv --speed 10', '86,400 prices set, 0 refused'],
  async run(ask, [file = ''], options) {
    const speed = speedOf(options)
    const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })
    const tell = (text: string): void => void process.stderr.write(`${text}\n`)
    const done = await replayPrices(ask, lines, speed, options['force'] === true, tell).catch((error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException
      throw code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR' ? new UsageError(message) : error
    })
    return { ...said(done, `${count(done.prices)} prices set, ${count(done.refused)} refused`), good: done.refused === 0 }
  },
}
