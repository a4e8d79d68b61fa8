import { expect, test } from 'vitest'
import { hostOf } from './models.ts'

test.each([
  ['https://api.example.com/v1', 'api.example.com'], ['https://api.example.com:8443/v1?x=1', 'api.example.com:8443'], ['https://user:word@api.example.com', 'api.example.com'],
  ['http://api.example.com/v1', 'http://api.example.com'], ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080'],
])('the place of %s that a card names and an approval is bound to is %s: without encryption it is another one', (url, place) => {
  expect(hostOf(url)).toBe(place)
})
