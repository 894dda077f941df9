import Sluice

func values() -> (ExactDecimal, CalendarDate?, Timestamp?) {
    let total: ExactDecimal = 19.90
    let day = CalendarDate("2010-12-01")
    let moment = Timestamp("2010-12-01T08:26:00+01:00")
    return (total, day, moment)
}
