/**
 * Shows the guide and the records of /api/v1/openapi.json, and the channels and messages of /api/v1/asyncapi.json, whose records are the
 * same; Swagger UI shows the operations (rest.js). Everything is put in as text or as elements made here, never as HTML of a document.
 */
'use strict'

const main = document.getElementById('main')
const contents = document.getElementById('contents')
let api
let streams

/** An element with properties and children; texts become text nodes. */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined))
  return element
}

const anchor = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')

// Markdown, as far as the document uses it.

/** `code`, *emphasis* and **strong** inside a line. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/).map((part) => {
    if (part.startsWith('`')) return make('code', {}, part.slice(1, -1))
    if (part.startsWith('**')) return make('strong', {}, inline(part.slice(2, -2)))
    return part.startsWith('*') && part.length > 2 ? make('em', {}, part.slice(1, -1)) : part
  })
}

const cells = (line) => line.split('|').slice(1, -1).map((cell) => cell.trim())

function tableOf(lines) {
  const [head, , ...rows] = lines.map(cells)
  return table(head.map((cell) => inline(cell)), rows.map((row) => row.map((cell) => inline(cell))))
}

function listOf(lines) {
  const items = []
  for (const line of lines) {
    if (/^(- |\d+\. )/.test(line)) items.push(line.replace(/^(- |\d+\. )/, ''))
    else items[items.length - 1] += ` ${line.trim()}`
  }
  return make(lines[0].startsWith('-') ? 'ul' : 'ol', {}, items.map((item) => make('li', {}, inline(item))))
}

/** Blocks are apart by an empty line, except inside a fence. */
function markdown(text) {
  return text.split(/(```[\s\S]*?\n```)|\n{2,}/).filter((block) => block !== undefined && block.trim() !== '').map((raw) => {
    const block = raw.trim()
    if (block.startsWith('```')) return code(block.replace(/^```.*\n/, '').replace(/\n```$/, ''))
    const heading = /^(#+) (.*)$/.exec(block)
    if (heading !== null) return make(`h${heading[1].length}`, { id: anchor(heading[2]) }, heading[2])
    const lines = block.split('\n')
    if (block.startsWith('|')) return tableOf(lines)
    return /^(- |\d+\. )/.test(block) ? listOf(lines) : make('p', {}, inline(block.replaceAll('\n', ' ')))
  })
}

// Parts of the page.

function table(head, rows) {
  const row = (tag) => (values) => make('tr', {}, values.map((value) => make(tag, {}, value)))
  return make('table', {}, make('thead', {}, row('th')(head)), make('tbody', {}, rows.map(row('td'))))
}

/** Code with a button that copies it. Addresses of the examples become those of this exchange. */
function code(text) {
  const source = text.replaceAll('http://127.0.0.1:8080', location.origin)
  const button = make('button', { type: 'button' }, 'Copy')
  button.addEventListener('click', async () => {
    const pre = button.previousSibling
    try {
      await navigator.clipboard.writeText(source)
      button.textContent = 'Copied'
    } catch {
      getSelection().selectAllChildren(pre)
      button.textContent = 'Selected'
    }
    setTimeout(() => (button.textContent = 'Copy'), 1500)
  })
  return make('div', { className: 'copied' }, make('pre', {}, make('code', {}, source)), button)
}

const json = (value) => code(JSON.stringify(value, null, 2))
const fold = (title, ...children) => make('details', {}, make('summary', {}, title), children)
const resolve = (thing, root = api) =>
  (thing.$ref === undefined ? thing : thing.$ref.slice(2).split('/').reduce((at, key) => at[key], root))
const nameOf = (thing) => thing.$ref.split('/').pop()

/** A type in a few words; records are links. */
function typeOf(schema) {
  if (schema.$ref !== undefined) return [make('a', { href: `#record-${anchor(nameOf(schema))}` }, nameOf(schema))]
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((each, i) => [...(i > 0 ? [' or '] : []), ...typeOf(each)])
  if (schema.type === 'array') return ['list of ', ...typeOf(schema.items ?? {})]
  if (schema.enum !== undefined) return [schema.enum.join(', ')]
  return [[schema.type ?? 'anything'].flat().join(' or ')]
}

function limitsOf(schema) {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format, deprecated } = schema
  const range = (low, high, unit) => (low === undefined && high === undefined ? [] : [`${low ?? 0} to ${high ?? 'any'}${unit}`])
  const ranges = [...range(minimum, maximum, ''), ...range(minLength, maxLength, ' characters'), ...range(minItems, maxItems, ' items')]
  return [...ranges, ...[pattern, format, deprecated ? 'deprecated' : undefined].filter((part) => part !== undefined)].join('; ')
}

function fieldRow(name, schema, required, description) {
  const limits = limitsOf(schema)
  const object = [schema.items ?? schema, ...(schema.anyOf ?? [])].find((each) => each.properties !== undefined)
  const inner = object === undefined ? null : fieldTable(object)
  return [
    [make('code', {}, name), required ? null : make('span', { className: 'soft' }, ' optional')],
    [make('span', { className: 'soft' }, typeOf(schema))],
    [...inline(description ?? ''), limits === '' ? null : make('div', { className: 'soft' }, make('code', {}, limits)), inner],
  ]
}

function fieldTable(schema) {
  const { properties = {}, required = [] } = schema
  const rows = Object.entries(properties).map(([name, each]) => fieldRow(name, each, required.includes(name), each.description))
  return rows.length === 0 ? make('p', { className: 'soft' }, 'No fields.') : table(['Field', 'Type', 'Meaning'], rows)
}

/** A message or frame of a channel: its own fields, without those that all have. */
function channelMessage(title, { summary, payload, examples }, part) {
  return [make('h4', {}, title), make('p', {}, inline(summary)), fieldTable(resolve(payload.properties[part])),
    examples.map((each) => fold('Example', json(each.payload)))]
}

function channel(name, { address, summary, description, messages }) {
  const own = Object.entries(messages).map(([type, reference]) => [type, resolve(reference, streams)])
  const subscribe = own.find(([type]) => type === 'subscribe')[1]
  const frames = own.filter(([, { payload }]) => payload.properties.data !== undefined)
  return make('section', { id: `channel-${name}` },
    make('h3', {}, make('a', { href: `#channel-${name}` }, name)),
    make('div', { className: 'endpoint' }, make('span', { className: 'method get' }, 'WS'), make('code', {}, address)),
    make('p', {}, inline(summary), ' ', make('em', {}, description)),
    channelMessage('Parameters', subscribe, 'params'),
    frames.map(([type, frame]) => channelMessage(type, frame, 'data')))
}

/** A message with all its fields. */
function wholeMessage(id, name, { summary, payload, examples = [] }) {
  return make('article', { id }, make('h3', {}, make('a', { href: `#${id}` }, name)), make('p', {}, inline(summary ?? '')),
    fieldTable(payload), examples.map((each) => fold('Example', json(each.payload))))
}

/** The messages of what is no channel to subscribe to, and their links. */
function whole(title, { summary, description = '', messages }) {
  const of = anchor(title)
  const named = Object.entries(messages).map(([name, reference]) => [`${of}-${anchor(name)}`, name, resolve(reference, streams)])
  contents.append(links(title, named.map(([id, name]) => [id, name])))
  return [make('h2', { id: `messages-${of}` }, title), make('p', {}, inline(summary)), markdown(description),
    named.map(([id, name, message]) => wholeMessage(id, name, message))]
}

function record(name, schema) {
  const kind = schema.properties === undefined ? make('p', {}, typeOf(schema), ' ', make('code', {}, limitsOf(schema))) : fieldTable(schema)
  return make('section', { id: `record-${anchor(name)}` }, make('h3', {}, name), make('p', {}, inline(schema.description ?? '')), kind)
}

function links(title, entries) {
  return make('section', {}, make('h2', {}, title), entries.map(([id, text]) => make('a', { href: `#${id}` }, text)))
}

function show() {
  const guide = make('section', { id: 'guide' }, make('h1', {}, api.info.title), markdown(api.info.description))
  const channels = Object.entries(streams.channels).filter(([, { messages }]) => messages.subscribe !== undefined)
  contents.append(links('Channels', channels.map(([name]) => [`channel-${name}`, name])))
  const { connection, orderEntry } = streams.channels
  const sections = [whole('Connection', connection), make('h2', { id: 'channels' }, 'Channels'),
    channels.map(([name, each]) => channel(name, each)), whole('Order entry', orderEntry)]
  const records = Object.entries(api.components.schemas).filter(([name]) => !/(Request|Response)$/.test(name))
  contents.prepend(links('Guide', [...guide.querySelectorAll('h2')].map(({ id, textContent }) => [id, textContent])))
  contents.append(links('Records', records.map(([name]) => [`record-${anchor(name)}`, name])))
  main.replaceChildren(guide, ...sections.flat(Infinity), make('h2', {}, 'Records'), ...records.map(([name, schema]) => record(name, schema)))
  document.getElementById('version').textContent = api.info.version
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView()
}

document.getElementById('filter').addEventListener('input', ({ target }) => {
  const words = target.value.toLowerCase()
  for (const link of contents.querySelectorAll('a')) link.hidden = !`${link.textContent} ${link.hash}`.toLowerCase().includes(words)
})

const read = (path) => fetch(path).then((answer) => answer.json())

Promise.all([read('/api/v1/openapi.json'), read('/api/v1/asyncapi.json')])
  .then((documents) => {
    [api, streams] = documents
    show()
  })
  .catch((error) => main.replaceChildren(make('p', {}, `The description of the interface could not be read: ${error.message}`)))
