/**
 * Promise: the documentation page shows the whole OpenAPI document and every channel of the streams, puts nothing of them in as HTML,
 * and loads nothing from elsewhere.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDocument, DOCUMENT_PATH } from '../../gateway/docs/rest/document.ts'
import { createStreamsDocument, STREAMS_PATH } from '../../gateway/docs/streams/document.ts'
import { TABLE, type OperationName } from '../../gateway/operations/index.ts'
import { DECLARATIONS } from '../../gateway/ws/channels/index.ts'
import type { Declaration } from '../../gateway/ws/channels/channel.ts'
import { findOperation, type ApiDocument } from '../support/openapi_check.ts'
import { openPage, type PageElement } from '../support/page_dom.ts'

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'gateway', 'docs', 'page', name), 'utf8')
const script = read('page.js')
const document = JSON.parse(JSON.stringify(createDocument())) as ApiDocument
const answers = { [DOCUMENT_PATH]: document, [STREAMS_PATH]: JSON.parse(JSON.stringify(createStreamsDocument())) as unknown }
const names = Object.keys(TABLE) as OperationName[]

/** The text of a page without its code. */
function prose(element: PageElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : child.tag === 'pre' ? '' : prose(child))).join(' ')
}

t.test('every operation with its path, fields, answers, samples and errors', async (t) => {
  const { main } = await openPage(script, answers)
  const articles = new Map(main.querySelectorAll('article').map((article) => [article.id, article.textContent]))
  t.strictSame([...articles.keys()].sort(), [...names].sort())
  for (const name of names) {
    const { method, path } = TABLE[name]
    const text = articles.get(name)!
    const { parameters = [], responses } = findOperation(document, method, path)!
    const parts = [method, path, ...parameters.map((each) => each.name), 'curl', 'TypeScript', 'Python']
    const codes = Object.values(responses).flatMap(({ content }) => Object.keys(content['application/json']!.examples ?? {}))
    for (const part of [...parts, ...codes]) t.ok(text.includes(part), `${name} shows ${part}`)
  }
})

t.test('the guide, the records, and links that lead somewhere', async (t) => {
  const { main, contents } = await openPage(script, answers)
  const text = main.textContent
  const parts = ['Sign a request', 'X-Svc-Signature', 'crypto.subtle', 'SigningKey.generate()', 'INSUFFICIENT_BALANCE']
  for (const part of parts) t.ok(text.includes(part), part)
  t.strictSame(/\bundefined\b|\[object |\*\*|```/.exec(prose(main)), null, 'nothing is left unread')
  t.ok(text.includes('https://exchange.test/api/v1/'), 'samples call this exchange')
  t.notOk(text.includes('http://127.0.0.1'))
  const ids = main.all().map((element) => element.id).filter((id) => id !== '')
  t.strictSame(ids.filter((id, i) => ids.indexOf(id) !== i), [], 'ids are unique')
  const links = [...main.querySelectorAll('a'), ...contents.querySelectorAll('a')].map((link) => link.href)
  t.ok(links.length > names.length * 2)
  t.strictSame(links.filter((href) => !href.startsWith('#') || !ids.includes(href.slice(1))), [], 'every link has its place')
})

t.test('every channel with its parameters, frames and their fields', async (t) => {
  const { main, contents } = await openPage(script, answers)
  const sections = new Map(main.querySelectorAll('section').map((section) => [section.id, section]))
  const linked = contents.querySelectorAll('a').map((link) => link.href)
  for (const { name, about, access, params, frames } of DECLARATIONS as readonly Declaration[]) {
    const text = sections.get(`channel-${name}`)!.textContent
    const fields = Object.values(frames).flatMap(({ data }) => Object.keys((data as { properties?: object }).properties ?? {}))
    // Marks of code are taken off.
    const parts = [about.replaceAll('`', ''), access === 'public' ? 'Public' : 'authenticated', ...Object.keys(params.properties)]
    for (const part of [...parts, ...Object.keys(frames), ...fields, 'subscribe']) t.ok(text.includes(part), `${name} shows ${part}`)
    t.ok(linked.includes(`#channel-${name}`), `${name} is among the contents`)
  }
})

t.test('the filter leaves what was asked for', async (t) => {
  const { contents, filter } = await openPage(script, answers)
  const shown = (): string[] => contents.querySelectorAll('a').filter((link) => !link.hidden).map((link) => link.hash)
  const all = shown().length
  filter('BATCHCANCEL')
  t.strictSame(shown().sort(), ['#BatchCancelAllOrders', '#BatchCancelOrders', '#BatchCancelOrdersByPair'])
  filter('')
  t.equal(shown().length, all)
})

t.test('a link to an operation is followed once it is there', async (t) => {
  const { main } = await openPage(script, answers, '#CancelOrder')
  t.strictSame(main.all().filter((element) => element['scrolled'] === true).map((element) => element.id), ['CancelOrder'])
})

t.test('a document that cannot be read is said', async (t) => {
  const { main } = await openPage(script, { ...answers, [STREAMS_PATH]: new Error('no answer') })
  t.match(main.textContent, /could not be read: no answer/)
})

t.test('nothing from elsewhere, no HTML from the document, no code in attributes', async (t) => {
  t.notMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|setAttribute/)
  const page = read('index.html')
  t.notMatch(page, /\son\w+=|<style|style=|javascript:|<script>/)
  const own = /^(\/docs\/|\/api\/v1\/(openapi|asyncapi)\.json|data:,$)/
  for (const [, target] of page.matchAll(/(?:src|href)="([^"]*)"/g)) t.match(target, own)
  t.notMatch(read('page.css'), /url\(|@import|https?:/)
  const lines = ['index.html', 'page.css', 'page.js'].reduce((sum, name) => sum + read(name).split('\n').length, 0)
  t.ok(lines < 400, `${lines} lines`)
})
