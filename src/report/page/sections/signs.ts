import { html, type Html } from '../html.ts';

/** A tone of the page; each has a sign of its own, because colour alone says nothing to many. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'note';

/** A sign beside a word that says the same. */
export const sign = (tone: Tone, text: string): Html =>
  html`<span class="sign ${tone}" aria-hidden="true">${text}</span>`;

/** A word in a coloured frame, with its sign. */
export const badge = (tone: Tone, mark: string, word: string): Html =>
  html`<span class="badge ${tone}">${sign(tone, mark)} ${word}</span>`;

/** Text of a host, which may be written from right to left. */
export const said = (text: string): Html => html`<bdi>${text}</bdi>`;

/** Text in which backquotes mark what is typed. */
export const withCode = (text: string): readonly Html[] =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : html`<bdi>${part}</bdi>`));

/** A card of the page. */
export const card = (id: string, title: string, about: string, content: Html | readonly Html[]): Html =>
  html` <section class="card" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${about === '' ? undefined : html`<p class="about">${about}</p>`} ${content}
  </section>`;
