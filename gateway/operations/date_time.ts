/** Moments in requests: RFC 3339, and only what the calendar and the clock have. */

const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[+-](\d{2}):(\d{2}))$/

/**
 * Unix ms of an RFC 3339 text; NaN when it is none. Date.parse alone takes far more, and turns the 30th of February into the 2nd
 * of March and
 * the hour 24 into the next day. Leap seconds (`:60`) are none either: Unix time has no number for them.
 */
export function parseDateTime(text: string): number {
  const parts = DATE_TIME.exec(text)
  if (parts === null) return Number.NaN
  const [year, month, day, hour, minute, second, offsetHour, offsetMinute] = parts.slice(1).map((part) => Number(part ?? 0)) as Moment
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month)
  const isTime = hour <= 23 && minute <= 59 && second <= 59 && offsetHour <= 23 && offsetMinute <= 59
  return isDate && isTime ? Date.parse(text.toUpperCase()) : Number.NaN
}

/** 2001-01-01 as Unix ms: a smaller number is a time in seconds, until the year 32969. */
const FIRST_MS = 978_307_200_000
const DIGITS = /^[0-9]{1,15}$/

/** Unix ms of digits that say it, or of an RFC 3339 text; NaN when it is neither. */
export const timeOf = (text: string): number => (DIGITS.test(text) ? Number(text) : parseDateTime(text))

/** Whether a time in digits is too small for milliseconds. 0 is the beginning in every unit. */
export const isSeconds = (text: string): boolean => DIGITS.test(text) && Number(text) !== 0 && Number(text) < FIRST_MS

type Moment = [
  year: number, month: number, day: number, hour: number, minute: number, second: number, offsetHour: number, offsetMinute: number,
]

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}
