// Creates elements without markup strings: text from the device always becomes a text node.

type Value = string | number | boolean | null | undefined;
export type Child = Node | string | null | undefined | false;
interface Props {
  class?: string;
  data?: Record<string, Value>;
  on?: Record<string, (event: never) => void>;
  [attribute: string]: Value | Record<string, unknown>;
}

const SVG = "http://www.w3.org/2000/svg";

function fill<E extends Element & { dataset: DOMStringMap }>(
  element: E,
  props: Props,
  children: Child[],
): E {
  for (const [key, value] of Object.entries(props)) {
    if (key === "data") {
      for (const [name, v] of Object.entries(value as Record<string, Value>)) {
        if (v != null) {
          element.dataset[name] = String(v);
        }
      }
    } else if (key === "on") {
      for (const [type, listener] of Object.entries(value as Record<string, EventListener>)) {
        element.addEventListener(type, listener);
      }
    } else if (value != null && value !== false) {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  for (const child of children) {
    if (child != null && child !== false) {
      element.append(child);
    }
  }
  return element;
}

/** An HTML element with attributes, `data`-attributes, listeners and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag) as SVGElementTagNameMap[K], props, children);
}

/** A figure whose exact value can be read back from `data-key` and `data-value`. */
export function figure(key: string, value: Value, text: string, tip?: string): HTMLElement {
  return h("span", { class: "num", data: { key, value: value ?? "" }, title: tip }, text);
}
