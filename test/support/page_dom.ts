/**
 * As much of a browser as the documentation page needs, to run its script without one: elements with properties and children, look-up by
 * id and by tag, one listener an event, and a fetch that answers what it is given.
 */
import { createContext, Script } from 'node:vm'

export class PageElement {
  readonly tag: string
  id = ''
  className = ''
  href = ''
  hidden = false
  children: (PageElement | string)[] = []
  readonly listeners = new Map<string, (event: unknown) => unknown>();
  [property: string]: unknown

  constructor(tag: string) {
    this.tag = tag
  }

  append(...parts: (PageElement | string)[]): void {
    const stranger = parts.find((part) => !(part instanceof PageElement) && typeof part !== 'string')
    if (stranger !== undefined) throw new TypeError(`${this.tag} gets ${String(stranger)}`)
    this.children.push(...parts)
  }
  prepend(...parts: (PageElement | string)[]): void {
    this.children.unshift(...parts)
  }
  replaceChildren(...parts: (PageElement | string)[]): void {
    this.children = []
    this.append(...parts)
  }
  addEventListener(name: string, listener: (event: unknown) => unknown): void {
    this.listeners.set(name, listener)
  }
  scrollIntoView(): void {
    this['scrolled'] = true
  }

  get hash(): string {
    return this.href.slice(this.href.indexOf('#'))
  }
  get textContent(): string {
    return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('')
  }
  set textContent(text: string) {
    this.children = [text]
  }

  /** Everything inside, in the order of the page. */
  all(): PageElement[] {
    return this.children.flatMap((child) => (typeof child === 'string' ? [] : [child, ...child.all()]))
  }
  querySelectorAll(tag: string): PageElement[] {
    return this.all().filter((element) => element.tag === tag)
  }
}

export interface Page {
  readonly main: PageElement
  readonly contents: PageElement
  /** Types into the filter. */
  filter(words: string): void
}

/** Runs `script` on a page at `hash` whose fetch answers what it has under the path; resolves when the page has been shown. */
export async function openPage(script: string, answers: Readonly<Record<string, unknown>>, hash = ''): Promise<Page> {
  const named = new Map(['main', 'contents', 'version', 'filter'].map((id) => [id, new PageElement('div')]))
  const main = named.get('main')!
  const byId = (id: string): PageElement | null => named.get(id) ?? main.all().find((element) => element.id === id) ?? null
  const document = { getElementById: byId, createElement: (tag: string) => new PageElement(tag) }
  const location = { origin: 'https://exchange.test', hash }
  const requests: string[] = []
  const fetch = (path: string): unknown => {
    requests.push(path)
    const answer = answers[path]
    return Promise.resolve({ json: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)) })
  }
  new Script(script).runInContext(createContext({ document, location, fetch, setTimeout }))
  for (let turn = 0; turn < 100 && main.children.length === 0; turn++) await new Promise((resolve) => setImmediate(resolve))
  if (requests.join() !== Object.keys(answers).join()) throw new Error(`the page asked for ${requests.join()}`)
  const filter = (words: string): unknown => named.get('filter')!.listeners.get('input')!({ target: { value: words } })
  return { main, contents: named.get('contents')!, filter }
}
