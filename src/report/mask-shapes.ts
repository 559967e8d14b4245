/**
 * Patterns of secrets that were not registered. Hosts choose the texts, so every pattern takes a time that grows with
 * the length of the text alone: it begins at a word that its own repetitions cannot contain, and a part that may repeat
 * before that word is not part of it.
 */

/** The text in place of a secret. */
export const MASKED = '(secret)';

/** The end of a setting's name that holds a secret. `secret` alone is far more often the name of an object. */
const NAME = String.raw`(?:password|passwd|passphrase|token|api[_-]?key|access[_-]?key|secret[_-]?key|[\w.-]secret)`;

/** Settings whose value is a whole encoded document or key. */
const ENCODED = String.raw`client-key-data|\.dockerconfigjson|\.dockercfg`;

/** A quote in a JSON text within JSON texts: 4 levels deep it has 15 backslashes. */
const QUOTE = String.raw`\\{0,15}"`;

/** A value: in quotes, which are not JSON's own, or one word. */
const quotedOr = (word: string): string => String.raw`(?:"(?![,:}\]\s])(?:\\.|[^"\n\\])+"|'[^'\n\\"]+'|${word})`;

/** `": "` of JSON, also of a JSON text within another, and the value. */
const JSON_VALUE = String.raw`(?<quote>${QUOTE})\s*:\s*\k<quote>)(?:(?!\k<quote>)(?:\\.|[^\n\\"]))+`;

/**
 * The ways in which a value follows its name. A group stands before each value, and stays: the groups 2, 4, 5, 6 and 7.
 */
const VALUES = [
  `(${JSON_VALUE}`,
  String.raw`('\s*:\s*')[^'"\n\\]+(?=')`,
  // `DB_PASSWORD=…`
  String.raw`(=)(?!true\b|false\b)${quotedOr(String.raw`[^\s"',;&\\]+`)}`,
  // `--password …`
  String.raw`( )(?<=\s--?[\w.-]{1,100} )[^\s"'\\-][^\s"'\\]*`,
  // `password: …` of YAML; a reference of the inventory is none.
  String.raw`(: )(?!(?:env|file|command):)${quotedOr(String.raw`[^\s"'\\]{8,}`)}`,
].join('|');

/** Named secrets, and what stays of the text. All names are in one pattern: the search for them is what costs. */
const NAMED: readonly (readonly [shape: RegExp, stays: string])[] = [
  [new RegExp(`(${NAME}|${ENCODED})(?:${VALUES})`, 'gi'), '$1$2$4$5$6$7'],
  // A login of a registry.
  [new RegExp(String.raw`((?<=["'])auth${JSON_VALUE}`, 'gi'), '$1'],
  [/((?<=')auth'\s*:\s*')[^'"\n\\]+(?=')/gi, '$1'],
  // A key by which the API server encrypts.
  [/(\bsecret: ["']?)[A-Za-z0-9+/]{22,}={0,2}(?![\w./-])/g, '$1'],
  // keepalived's.
  [/(\bauth_pass[ \t]+)[^\s"'\\]+/g, '$1'],
  // A header, of any scheme.
  [
    /(\bauthorization(?:\\*["'])?[ \t]*[:=][ \t]*(?:\\*["'])?)(?:((?:basic|bearer|digest|negotiate|token) )[^\s"'\\,;]+|[\w.~+/-]{20,}=*)/gi,
    '$1$2',
  ],
  [/(\bbearer )[\w.~+/-]{16,}=*/gi, '$1'],
  // The password in a URL.
  [/(:\/\/[^\s/:@"']*:)[^\s/@"'\\]+(?=@)/g, '$1'],
];

/** The login in the command line of a program that takes it as `-u name:password`. */
const LOGIN = /(\s(?:-[uU]|--user|--proxy-user)[ =]?["']?[^\s:"'\\]+:)[^\s"'\\]+/g;
const TAKES_LOGIN = /\bcurl\b/;

/** A line without any of these names no secret. Most lines need no further search. */
const MAY_NAME = /pass|token|key|secret|auth|bearer|docker|curl|:\/\/[^\s/]*@/i;

function namedMasked(line: string): string {
  const masked = NAMED.reduce((text, [shape, stays]) => text.replace(shape, `${stays}${MASKED}`), line);
  return TAKES_LOGIN.test(masked) ? masked.replace(LOGIN, `$1${MASKED}`) : masked;
}

/** kubeadm's certificate key, maybe in the next line. Other numbers of this length are hashes and containers. */
const CERTIFICATE_KEY = /(certificate[-_ ]?key(?:["'\s:=,]|\\[n"])+)[0-9a-f]{64}(?![0-9a-z])/gi;

/** Patterns of secrets by themselves. A digest after `sha256:` is no secret, and stays. */
const SHAPES: readonly RegExp[] = [
  // One that is cut off ends with the text of a JSON document that it stands in.
  /-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----[^"]*?(?:-----END \1-----|(?=")|$)/g,
  // A bootstrap token, maybe at the end of a sentence.
  /(?<![a-z0-9.-])[a-z0-9]{6}\.[a-z0-9]{16}(?![a-z0-9-]|\.[a-z0-9])/g,
  // The same after a full stop, where names of hosts have words of the same lengths: of 200 tokens all but one hold a
  // digit there.
  /(?<=\.)[a-z0-9]{6}\.(?=[a-z]{0,15}\d)[a-z0-9]{16}(?![a-z0-9-]|\.[a-z0-9])/g,
  // A certificate key, alone in a line as kubeadm prints it.
  /^[0-9a-f]{64}$/gm,
  // Tokens of GitHub, GitLab and Slack.
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-)[\w-]{16,}/g,
  // Keys of age, also the post-quantum ones.
  /AGE-(?:SECRET-KEY|PLUGIN)-(?:[A-Z0-9]+-){0,4}1[02-9AC-HJ-NP-Z]{20,}/gi,
];

/**
 * Words with dots between them: a JWT may be among them. The word before the first dot is found from its start alone.
 */
const DOTTED = /(?<![\w-])[\w-]{13,}(?:\.[\w-]{10,}){2,}/g;

/** The words from the header of a JWT on, which is the base64 of a JSON object. */
function jwtMasked(words: string): string {
  const header = words.indexOf('eyJ');
  return header === -1 ? words : `${words.slice(0, header)}${MASKED}`;
}

/** Text without what looks like a secret. Takes a time that grows with the length of the text alone. */
export function shapesMasked(given: string): string {
  let masked = given.replaceAll(DOTTED, jwtMasked);
  for (const shape of SHAPES) masked = masked.replace(shape, MASKED);
  masked = masked.replace(CERTIFICATE_KEY, `$1${MASKED}`);
  return masked
    .split('\n')
    .map((line) => (MAY_NAME.test(line) ? namedMasked(line) : line))
    .join('\n');
}
