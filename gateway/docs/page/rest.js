/**
 * Shows /api/v1/openapi.json in Swagger UI, whose requests it signs once somebody has signed in (signing.js).
 *
 * The guide, which the document begins with, has its own page. Samples of the document are shown behind each operation's description,
 * because Swagger UI does not know them. Its own dialogue for credentials is left out: three headers a request are not filled in by hand.
 */
import { begin, forget, signIn, signRequest } from '/docs/signing.js'

const at = (id) => document.getElementById(id)
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const FENCES = { Shell: 'bash', TypeScript: 'typescript', Python: 'python' }

// The sign-in.

function tell(text, className = '') {
  at('status').className = className
  at('status').textContent = text
}

function signedIn({ address, publicKey, expiresAt }, hint = '') {
  at('paste').hidden = true
  at('forget').hidden = false
  const until = new Date(expiresAt * 1000).toLocaleString()
  tell(`Signed in as ${address} with the session key ${publicKey.slice(0, 8)}… until ${until}. Requests are signed.${hint}`, 'signed')
}

/** Runs `action` on a click; what it throws is said. */
function onClick(id, action) {
  at(id).addEventListener('click', async () => {
    at(id).disabled = true
    try {
      await action()
    } catch (error) {
      tell(error.message, 'failed')
    } finally {
      at(id).disabled = false
    }
  })
}

onClick('throwaway', async () => {
  const { throwawayWallet } = await import('/docs/wallet.js')
  signedIn(await signIn(throwawayWallet()), ' Mint gives it test funds.')
})

onClick('browser-wallet', async () => {
  const { browserWallet } = await import('/docs/wallet.js')
  signedIn(await signIn(await browserWallet(window.ethereum)))
})

let begun
onClick('own-wallet', () => {
  at('paste').hidden = !at('paste').hidden
})
onClick('ask', async () => {
  begun = await begin(at('address').value.trim())
  at('text').value = begun.message
  at('proof').hidden = false
})
onClick('send', async () => {
  signedIn(await begun.finish(at('signature').value.trim()))
})
at('paste').addEventListener('submit', (event) => event.preventDefault())

onClick('forget', () => {
  forget()
  at('forget').hidden = true
  tell('The keys are forgotten. Requests are no longer signed.')
})

at('browser-wallet').hidden = window.ethereum === undefined

// The document.

function withSamples({ description, 'x-codeSamples': samples, ...operation }) {
  const shown = samples.map(({ lang, label, source }) =>
    `**${label}**\n\n\`\`\`${FENCES[lang]}\n${source.replaceAll('http://127.0.0.1:8080', location.origin)}\n\`\`\``)
  return { ...operation, description: [description, ...shown].join('\n\n'), security: [] }
}

/** The document as Swagger UI is to show it. */
function shownDocument(api) {
  const withOwn = (item) => Object.fromEntries(Object.entries(item).map(([key, value]) =>
    [key, METHODS.includes(key) ? withSamples(value) : value]))
  const paths = Object.fromEntries(Object.entries(api.paths).map(([path, item]) => [path, withOwn(item)]))
  const { securitySchemes, ...components } = api.components
  const description = 'Every operation of REST. How to sign, lists, retries, limits and streams are in the [guide](/docs/guide).'
  return { ...api, info: { ...api.info, description }, servers: [{ url: location.origin }], paths, components }
}

/** Swagger UI's filter looks at tags only. This one finds operations by their name, path and summary, in any case. */
function filterOperations(taggedOperations, phrase) {
  const words = phrase.toLowerCase()
  const matches = (each) => [each.get('path'), each.getIn(['operation', 'operationId']), each.getIn(['operation', 'summary'])]
    .some((text) => text?.toLowerCase().includes(words))
  return taggedOperations
    .map((tag, name) => (name.toLowerCase().includes(words) ? tag : tag.set('operations', tag.get('operations').filter(matches))))
    .filter((tag) => tag.get('operations').size > 0)
}

function show(api) {
  at('version').textContent = api.info.version
  window.SwaggerUIBundle({
    dom_id: '#rest', spec: shownDocument(api), deepLinking: true, filter: true, docExpansion: 'list', defaultModelsExpandDepth: 0,
    displayOperationId: true, displayRequestDuration: true, showExtensions: false, validatorUrl: null, requestInterceptor: signRequest,
    plugins: [() => ({ fn: { opsFilter: filterOperations } })],
  })
}

const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', paint)
paint()

fetch('/api/v1/openapi.json')
  .then((answer) => answer.json())
  .then(show)
  .catch((error) => {
    at('rest').textContent = `The description of the interface could not be read: ${error.message}`
  })
