import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attribute, html, trusted } from '../../../src/report/page/html.ts';
import { anyCharacter } from '../../tools/any-character.ts';

describe('html', () => {
  test('escapes what is interpolated, in text and in values of attributes', () => {
    const hostile = `</script><img src="x" onerror='alert(1)'>&`;
    const safe = '&lt;/script&gt;&lt;img src=&quot;x&quot; onerror=&#39;alert(1)&#39;&gt;&amp;';
    expect(String(html`<p title="${hostile}">${hostile}</p>`)).toBe(`<p title="${safe}">${safe}</p>`);
  });

  test('shows what steers a terminal or turns the direction of writing', () => {
    expect(String(html`<p>${'a\u202eb\u0007c\u001b[31m\u200f'}</p>`)).toBe('<p>a\\u202eb\\x07c\\x1b[31m\\u200f</p>');
  });

  test('keeps markup of its own, joins lists, and leaves out what is undefined', () => {
    const items = ['a', '<b>'].map((text) => html`<i>${text}</i>`);
    expect(String(html`<b>${items}${undefined}${3}</b>`)).toBe('<b><i>a</i><i>&lt;b&gt;</i>3</b>');
    expect(String(html`<details${attribute('open', true)}></details>`)).toBe('<details open></details>');
    expect(String(html`<details${attribute('open', false)}></details>`)).toBe('<details></details>');
  });

  test('drops the indentation of its templates, and keeps that of texts', () => {
    const text = 'one\n    two';
    const made = html`<div>
      <pre>${text}</pre>
    </div>`;
    expect(String(made)).toBe('<div>\n<pre>one\n    two</pre>\n</div>');
  });

  test('refuses interpolations that could leave their place', () => {
    const strings = (...parts: readonly string[]): TemplateStringsArray => Object.assign([...parts], { raw: parts });
    expect(() => html(strings('<p class=', '></p>'), 'a')).toThrow(TypeError);
    expect(() => html(strings("<p class='", "'></p>"), 'a')).toThrow(TypeError);
    expect(() => html(strings('<p ', '></p>'), 'onclick="x"')).toThrow(TypeError);
    expect(() => html(strings('<', '></p>'), 'p')).toThrow(TypeError);
    expect(() => html(strings('<p title="', '"></p>'), trusted('"><script>'))).toThrow(TypeError);
  });

  test('no text adds a tag, ends a value, or begins an entity', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), (text) => {
        const made = String(html`<p title="${text}">${text}</p>`);
        const [, value, content] = /^<p title="([^"<>]+)">([^"<>]+)<\/p>$/.exec(made) ?? [];
        expect(content).toBeDefined();
        expect(content).toBe(value);
        expect(content!.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
      }),
    );
  });
});
