import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maskedInPieces, masker } from '../../src/report/mask.ts';
import { Secret } from '../../src/shell/secret.ts';

test('every secret of the inventory is masked, also in JSON, base64 and line by line', () => {
  const { text } = masker({ a: [{ password: Secret.of('can"ary\nsecond line') }] });
  expect(text('x can"ary y')).toBe('x (secret) y');
  expect(text(JSON.stringify({ v: 'can"ary' }))).toBe('{"v":"(secret)"}');
  expect(text(Buffer.from('second line').toString('base64'))).not.toContain('c2Vj');
  expect(text('second line')).toBe('(secret)');
});

describe('a known secret is masked', () => {
  const secret = 'S3cr3t & "Pa55" <wörd>/+x';
  const { text } = masker(Secret.of(secret));
  const inGo = String.raw`S3cr3t \u0026 \"Pa55\" \u003cwörd\u003e/+x`;
  const bytes = Buffer.from(secret);

  test.each([
    ['in JSON of Go', inGo],
    ['in JSON of ASCII characters', String.raw`S3cr3t & \"Pa55\" <w\u00f6rd>/+x`],
    ['in a query', encodeURIComponent(secret)],
    [
      'in a URL that was written in lower case',
      encodeURIComponent(secret).toLowerCase().replace('s3', 'S3').replace('pa55', 'Pa55'),
    ],
    ['in a form', encodeURIComponent(secret).replaceAll('%20', '+')],
    ['in HTML', 'S3cr3t &amp; &quot;Pa55&quot; &lt;wörd&gt;/+x'],
    ['in HTML of Go', 'S3cr3t &amp; &#34;Pa55&#34; &lt;wörd&gt;/+x'],
    ['in hexadecimal digits', bytes.toString('hex')],
  ])('%s', (_, written) => {
    expect(text(`before ${written} after`)).toBe('before (secret) after');
  });

  test.each(['', 'a', 'ab', 'abc', 'robot:', 'a-user:'])(
    'in base64 behind %j, all but a character at each end',
    (before) => {
      for (const encoding of ['base64', 'base64url'] as const)
        for (const after of ['', '!', '!!']) {
          const shown = text(Buffer.from(`${before}${secret}${after}`).toString(encoding));
          const alone = Buffer.from(before).toString(encoding);
          expect(shown).toMatch(/^[\w+/-]*\(secret\)[\w+/=-]*$/);
          expect(shown.replace('(secret)', '').length).toBeLessThanOrEqual(alone.length + 6);
        }
    },
  );
});

test('two known secrets that overlap are masked together, and one that contains another as a whole', () => {
  const { text } = masker([Secret.of('abcdefgh'), Secret.of('ghijkl'), Secret.of('xxabcdefghxx')]);
  expect(text('1 abcdefghijkl 2 xxabcdefghxx 3 abcdefghabcdefgh 4')).toBe('1 (secret) 2 (secret) 3 (secret)(secret) 4');
});

test('a long text is masked in pieces, and other work goes on meanwhile', async () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${'MIIE'.repeat(400)}\n-----END PRIVATE KEY-----`;
  const line = 'a line of a log, password=hunter2x\n';
  // The first piece would end within the key.
  const long = `${line.repeat(Math.floor((256 * 1024 - 800) / line.length))}${key}\n${line.repeat(40_000)}`;
  const mask = masker();
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const masked = await maskedInPieces(long, mask);
  clearInterval(timer);
  expect(masked).toBe(mask.text(long));
  expect(masked).not.toMatch(/MIIE|hunter2x/);
  expect(turns).toBeGreaterThan(2);
  expect(await maskedInPieces('', mask)).toBe('');
});

test('a secret that becomes known later is masked from then on', () => {
  const mask = masker();
  mask.register(Secret.of('hunter2-hunter2'));
  expect(mask.value({ host: 'w1', deep: ['hunter2-hunter2!', 4, null] })).toEqual({
    host: 'w1',
    deep: ['(secret)!', 4, null],
  });
});

test.each([
  ['a bootstrap token', 'token abcdef.0123456789abcdef used', 'token (secret) used'],
  ['a certificate key', `--certificate-key ${'a1'.repeat(32)} \\`, '--certificate-key (secret) \\'],
  [
    'what kubeadm prints of one',
    `[upload-certs] Using certificate key:\n${'a1'.repeat(32)}\n`,
    '[upload-certs] Using certificate key:\n(secret)\n',
  ],
  [
    'one in a log of JSON',
    `"key:\\n Certificate key: ${'a1'.repeat(32)}\\n"`,
    '"key:\\n Certificate key: (secret)\\n"',
  ],
  ['a password in JSON', '{"user":"a","password":"h\\"2,x","n":1}', '{"user":"a","password":"(secret)","n":1}'],
  [
    'a password in JSON within JSON',
    String.raw`{"m":"{\"dbPassword\": \"hunter2\"}"}`,
    String.raw`{"m":"{\"dbPassword\": \"(secret)\"}"}`,
  ],
  ['a login of a registry', '{"auths":{"r":{"auth":"dTpw"}}}', '{"auths":{"r":{"auth":"(secret)"}}}'],
  ['a variable', 'env DB_PASSWORD=hunter2 USER=a', 'env DB_PASSWORD=(secret) USER=a'],
  ['a quoted variable', `API_KEY="a b" x`, 'API_KEY=(secret) x'],
  ['a parameter of a query', 'GET /x?access_token=abc&b=1', 'GET /x?access_token=(secret)&b=1'],
  ['an argument', 'tool --client-secret hunter2 -v', 'tool --client-secret (secret) -v'],
  ['a short password of YAML in quotes', 'password: "x y"', 'password: (secret)'],
  ['a key of the API server', 'secret: AESGCMkeyAESGCMkeyAESGCMkeyAESGCMkey0w0w0w0=', 'secret: (secret)'],
  ['basic authorization', 'Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic (secret)'],
  ['a header in JSON', '{"Authorization":"Bearer abc.def"}', '{"Authorization":"Bearer (secret)"}'],
  ['a bearer token', 'sent Bearer abcdefghijklmnop0123', 'sent Bearer (secret)'],
  ['a URL with a password', 'proxy http://me:hunter2@proxy:3128/ used', 'proxy http://me:(secret)@proxy:3128/ used'],
  ['a token of GitHub', 'ghp_0123456789abcdefghijABCDEFGHIJ012345', '(secret)'],
  ['a private key', 'a\n-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nb', 'a\n(secret)\nb'],
  ['a private key that was cut off', 'a -----BEGIN OPENSSH PRIVATE KEY-----\nMII', 'a (secret)'],
  ['a kubeconfig', 'client-key-data: LS0tLS1CRUdJTg==', 'client-key-data: (secret)'],
  ['a kubeconfig in JSON', '{"client-key-data": "LS0tLS1CRUdJTg=="}', '{"client-key-data": "(secret)"}'],
  ['logins of registries', '.dockerconfigjson: eyJhdXRocyI6e319', '.dockerconfigjson: (secret)'],
  ['logins of registries in JSON', '{".dockerconfigjson":"eyJhdXRocyI6e319"}', '{".dockerconfigjson":"(secret)"}'],
  ['a login of curl', 'curl -fsS -u robot:hunter2 https://x', 'curl -fsS -u robot:(secret) https://x'],
  ['a login of curl in quotes', "curl --user 'a:b c' https://x", "curl --user 'a:(secret) c' https://x"],
  ['a bootstrap token at the end of a sentence', 'used abcdef.0123456789abcdef.', 'used (secret).'],
  ['a bootstrap token after a full stop', 'cp1.abcdef.0123456789abcdef used', 'cp1.(secret) used'],
  ['a bootstrap token in a path', 'GET /x/abcdef.0123456789abcdef', 'GET /x/(secret)'],
  ['a key of age', `AGE-SECRET-KEY-1${'QPZRY9X8GF'.repeat(5)}`, '(secret)'],
  ['a post-quantum key of age', `age-secret-key-pq-1${'qpzry9x8gf'.repeat(5)}`, '(secret)'],
  ['a password of keepalived', '  auth_pass hunter2x', '  auth_pass (secret)'],
  ['a JWT', `x eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(20)}.${'b'.repeat(20)} y`, 'x (secret) y'],
  ['a JWT behind a dash', `id-eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(20)}.${'b'.repeat(20)}`, 'id-(secret)'],
])('%s is masked wherever it came from', (_, given, expected) => {
  expect(masker().text(given)).toBe(expected);
});

test('a JSON document stays one, and keeps the hashes of files', () => {
  const facts = { key: '-----BEGIN PRIVATE KEY-----\nMII', files: { '/a': { sha256: 'c'.repeat(64) } } };
  const shown = masker().text(JSON.stringify(facts, undefined, 2));
  expect(JSON.parse(shown)).toEqual({ ...facts, key: '(secret)' });
});

const HASH = '0123456789abcdef'.repeat(4);

test.each([
  ['hashes of what a service uses', `{"applied":{"kubelet":"${HASH}"}}`],
  ['containers', `task ${HASH} runs, sandbox "${HASH}"`],
  ['the hash of the CA', `--discovery-token-ca-cert-hash sha256:${HASH}`],
  ['the name of a Secret', 'secret "kubeadm-certs" not found; secretName: web-tls, secret="default/web-tls"'],
  ['flags about tokens', '--automount-service-account-token=false --authentication-token-webhook-cache-ttl=10s'],
  ['files of tokens and keys', '--service-account-key-file=/etc/kubernetes/pki/sa.pub --token-auth-file=/x/tokens.csv'],
  ['references of the inventory', 'password: env:REGISTRY_PASSWORD, sudoPassword: file:/run/sudo'],
  ['modes of authorization', 'authorization:\n  mode: Webhook\nauthorization: denied, --authorization-mode=Node,RBAC'],
  ['words', 'Basic constraints; the bearer of this; a password is asked for; token cleaner; kubernetes://a:6443'],
  ['addresses', 'https://10.0.0.1:6443/healthz http://[fd00::1]:2379 user@host registry:5000/a@sha256:1'],
])('%s stay', (_, given) => {
  expect(masker().text(given)).toBe(given);
});

test('digests and ordinary words stay', () => {
  const digest = `sha256:${'0'.repeat(64)} registry.k8s.io/pause@sha256:${'a'.repeat(64)} kubelet 1.36.3`;
  expect(masker({ short: Secret.of('k8s') }).text(digest)).toBe(digest);
});

test('any JSON document with words of secrets in it stays one', () => {
  const words = [
    'password',
    'DB_TOKEN',
    '=',
    ': ',
    '"',
    "'",
    '\\',
    ',',
    '}',
    ' ',
    '\n',
    'Authorization: Basic ',
    '--secret-key ',
    'x',
  ];
  const piece = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((list) => list.join(''));
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, piece), { maxLength: 4 }), (entries) => {
      for (const indent of [0, 2])
        expect(
          () => JSON.parse(masker().text(JSON.stringify(Object.fromEntries(entries), undefined, indent))) as unknown,
        ).not.toThrow();
    }),
    { numRuns: 2000 },
  );
});
