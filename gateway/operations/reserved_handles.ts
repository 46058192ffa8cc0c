/**
 * Handles that nobody is given, because followers would take their owner for the service. A handle is reserved when its letters
 * contain the service's name, or when it is, or has as a part between hyphens and underscores, one of {@link WORDS}; digits that look like
 * letters count as these, and digits at its end for nothing.
 */
const NAME = 'ringbook'
const WORDS: ReadonlySet<string> = new Set([
  'admin', 'administrator', 'administration', 'support', 'help', 'helpdesk', 'official', 'operator', 'moderator', 'mod', 'staff', 'team',
  'security', 'system', 'root', 'service', 'insurance', 'treasury', 'vault', 'faucet', 'exchange',
])
const LOOKALIKES: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't' }

const lettersOf = (text: string): string => text.toLowerCase().replace(/[013457]/g, (digit) => LOOKALIKES[digit]!)
const isWord = (text: string): boolean => WORDS.has(lettersOf(text)) || WORDS.has(lettersOf(text.replace(/[0-9]+$/, '')))

/** Whether nobody is given this handle, of letters, digits, hyphens and underscores. */
export function isReserved(handle: string): boolean {
  const parts = handle.split(/[-_]/)
  const whole = parts.join('')
  return lettersOf(whole).includes(NAME) || isWord(whole) || parts.some(isWord)
}
