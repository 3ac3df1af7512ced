// @ts-check
/** The page to watch and to trade. */
import { element, fill } from '../dom.js';

fill(document.body, element('p', {}, 'ringbook'), element('a', { href: '/api-reference' }, 'API reference'));
