/**
 * Promise: the page of the guide shows the guide, every record, every channel and every message of order entry, puts nothing of the
 * documents in as HTML, and the pages load nothing from elsewhere. (Swagger UI, which shows the operations: interop/docs_in_chromium.)
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDocument, DOCUMENT_PATH } from '../../gateway/docs/rest/document.ts'
import { FILES, protoPaths } from '../../gateway/docs/files.ts'
import { PROTO_ROOT } from '../../gateway/grpc/schema.ts'
import { createStreamsDocument, STREAMS_PATH } from '../../gateway/docs/streams/document.ts'
import { DECLARATIONS } from '../../gateway/ws/channels/index.ts'
import type { Declaration } from '../../gateway/ws/channels/channel.ts'
import { openPage, type PageElement } from '../support/page_dom.ts'

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'gateway', 'docs', 'page', name), 'utf8')
const script = read('page.js')
interface Message {
  readonly payload: { readonly properties: object }
}
const document = JSON.parse(JSON.stringify(createDocument())) as unknown
const streams = JSON.parse(JSON.stringify(createStreamsDocument())) as {
  channels: Record<string, { messages: Record<string, unknown> }>
  components: { messages: Record<string, Message> }
}
const answers = { [DOCUMENT_PATH]: document, [STREAMS_PATH]: streams }

/** The text of a page without its code. */
function prose(element: PageElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : child.tag === 'pre' ? '' : prose(child))).join(' ')
}

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
  t.ok(links.length > 100)
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

t.test('every message of order entry, whole', async (t) => {
  const { main, contents } = await openPage(script, answers)
  const articles = new Map(main.querySelectorAll('article').map((article) => [article.id, article.textContent]))
  const linked = contents.querySelectorAll('a').map((link) => link.href)
  const names = Object.keys(streams.channels['orderEntry']!.messages)
  t.ok(names.length > 20)
  for (const name of names) {
    const id = `order-entry-${name.replaceAll(/[._]/g, '-')}`
    const fields = Object.keys(streams.components.messages[name]!.payload.properties)
    for (const part of [name, ...fields]) t.ok(articles.get(id)!.includes(part), `${name} shows ${part}`)
    t.ok(linked.includes(`#${id}`), `${name} is among the contents`)
  }
  const counted = main.querySelectorAll('article').find(({ id }) => id === 'order-entry-order-cancel-counted')!
  t.match(prose(counted), /orderId/, 'fields of a body that may be an object or a text, besides the example')
})

t.test('the filter leaves what was asked for', async (t) => {
  const { contents, filter } = await openPage(script, answers)
  const shown = (): string[] => contents.querySelectorAll('a').filter((link) => !link.hidden).map((link) => link.hash)
  const all = shown().length
  filter('ORDER.CANCEL_ALL')
  const id = '#order-entry-order-cancel-all'
  t.strictSame(shown().sort(), [id, `${id}-counted`, `${id}-result`])
  filter('')
  t.equal(shown().length, all)
})

t.test('a link to a channel is followed once it is there', async (t) => {
  const { main } = await openPage(script, answers, '#channel-orderbook')
  t.strictSame(main.all().filter((element) => element['scrolled'] === true).map((element) => element.id), ['channel-orderbook'])
})

t.test('a document that cannot be read is said', async (t) => {
  const { main } = await openPage(script, { ...answers, [STREAMS_PATH]: new Error('no answer') })
  t.match(main.textContent, /could not be read: no answer/)
})

t.test('nothing from elsewhere, no HTML from the document, no code in attributes', async (t) => {
  const scripts = ['page.js', 'rest.js', 'signing.js', 'wallet.js']
  for (const name of scripts) {
    const text = read(name)
    t.notMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|setAttribute/, name)
    t.notMatch(text, /localStorage|sessionStorage|indexedDB|cookie|console\./, `${name} keeps and tells nothing`)
    for (const [, target] of text.matchAll(/(?:from|import\() ?'([^']*)'/g)) t.ok(Object.hasOwn(FILES, target!), `${name} loads ${target}`)
  }
  for (const name of ['guide.html', 'rest.html']) {
    const page = read(name)
    t.notMatch(page, /\son\w+=|<style|style=|javascript:|<script>/, name)
    const targets = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, target]) => target!)
    const served = (target: string): boolean => Object.hasOwn(FILES, target) || Object.hasOwn(answers, target) || target === 'data:,'
    t.strictSame(targets.filter((target) => !served(target)), [], `${name} leads to what is served`)
  }
  for (const name of ['page.css', 'rest.css']) t.notMatch(read(name), /url\(|@import|https?:/)
})

t.test('of the kept packages only what the page loads is served, and all of it', async (t) => {
  const kept = Object.keys(FILES).filter((path) => path.startsWith('/docs/kept/') && path.endsWith('.js'))
  const reached = new Set(['/docs/kept/swagger-ui-bundle.js'])
  const follow = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    const text = Buffer.from(FILES[path]!.read()).toString()
    for (const [, target] of text.matchAll(/^(?:import|export|\}) .*?from ['"]([^'"]+)['"]/gm)) {
      follow(new URL(target!, `http://exchange.test${path}`).pathname)
    }
  }
  for (const name of ['curves/secp256k1.js', 'hashes/sha3.js']) follow(`/docs/kept/${name}`)
  t.strictSame([...reached].sort(), kept.sort())
  const bytes = Object.values(FILES).reduce((sum, file) => sum + file.read().length, 0)
  t.ok(bytes < 3e6, `${bytes} bytes, if all of it was asked for`)
})

t.test('the .proto files, each and in one ZIP that others read', async (t) => {
  const paths = protoPaths()
  t.ok(paths.includes('svc/v1/orders_service.proto') && paths.includes('google/rpc/status.proto'))
  const folder = t.testdir({})
  const archive = join(folder, 'proto.zip')
  writeFileSync(archive, FILES['/docs/proto.zip']!.read())
  const program = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; z.extractall(sys.argv[2])'
  const { status, stderr } = spawnSync('python3', ['-c', program, archive, folder], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  for (const path of paths) {
    const source = readFileSync(join(PROTO_ROOT, path), 'utf8')
    t.equal(Buffer.from(FILES[`/docs/proto/${path}`]!.read()).toString(), source, path)
    t.equal(readFileSync(join(folder, path), 'utf8'), source, `${path} of the ZIP`)
  }
})
